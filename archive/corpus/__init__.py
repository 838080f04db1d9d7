"""Corpora: puzzles by the million, read or generated slice by slice."""
