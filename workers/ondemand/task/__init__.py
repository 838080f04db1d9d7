"""What one task does with a job on demand: reads its message, solves it, and files how it ended."""
