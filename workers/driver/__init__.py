"""The driver of a run: one table of chunks, and what follows from it."""
