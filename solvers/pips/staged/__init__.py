"""Counts of Pips whose states are distributed between layers.

For counts that exceed the memory or time of one process: chosen for stages of large counts and for
parts that are buckets of states, `{"layer": L, "buckets": [i, j]}`.
"""
