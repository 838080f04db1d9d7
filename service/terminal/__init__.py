"""Terminal output: answers, notes, progress, exit codes."""
