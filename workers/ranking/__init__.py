"""Rankings of boards by workers: batches of a lake, and single boards on demand."""
