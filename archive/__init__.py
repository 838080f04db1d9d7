"""Puzzles in, results out: sources, normalising, tables and the lake."""
