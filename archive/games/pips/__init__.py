"""Pips in the archive: its plug, the puzzles table, boards of corpora."""
