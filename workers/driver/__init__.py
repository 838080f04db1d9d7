"""The driver of a run: a table of chunks, one loop, and one rule for what is lost.

`driver` has the loop and the rule; `growth` adds chunks; `outbox` sends them; `chunk_records` says
which transition leads where.
"""
