"""Rank the Strands boards that no weight was fitted on: which place the official cover takes.

python -m benchmarks.strands_rank
"""
