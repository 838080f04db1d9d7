"""The driver of a run: a table of chunks, one pass, and one rule for what is lost.

`driver` has the pass and the rule, `drive` the loop of a night and a count; `growth` adds chunks,
`outbox` sends them; `chunk_records` says which transition leads where.
"""
