"""The driver of a run: a table of chunks, one pass over it, and one rule that finds lost chunks.

`driver` has the pass, the rule (`Driver._settle`) and the retry limit (`Driver._fail`), `drive` the
loop for a night or a count; `growth` adds chunks, `outbox` sends them; `chunk_table` has their
states.
"""
