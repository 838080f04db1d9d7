"""The driver of a run: one table of chunks, and what follows from it.

`driver` has the loop; `reconciler` decides what is sent next and what became of a chunk: tried
again, broken up, or poison; `growing_run` adds chunks. `chunk_records` says which transition may
follow which.
"""
