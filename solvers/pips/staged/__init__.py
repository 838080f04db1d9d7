"""A count of Pips whose states are handed out between layers.

For counts that one process has too little memory or time for: chosen for stages of large counts and
for parts that are buckets of states, `{"layer": L, "buckets": [i, j]}`.
"""
