"""Look up puzzles of a lake by reference, and list its contents."""
