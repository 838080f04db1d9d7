"""Puzzles in, results out: sources, normalisation, tables and the lake."""
