"""What a terminal shows: answers, notes, progress, exit codes."""
