"""What people look up in a lake: puzzles by reference, and lists of what it has."""
