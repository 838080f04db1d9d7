"""The driver of a run: a table of chunks, one pass, and one rule for what is lost.

`driver` has the pass, the rule (`Driver._settle`) and the retry limit (`Driver._fail`), `drive` the
loop of a night and a count; `growth` adds chunks, `outbox` sends them; `chunk_table` has their
states.
"""
