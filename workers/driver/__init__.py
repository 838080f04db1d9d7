"""The driver of a run: one table of chunks, and what follows from it.

`driver` has the loop, `reconciler` decides what became of a chunk: tried again, broken up, or
poison. `chunk_states` says which transition may follow which, `suspects` which chunk is sent next.
"""
