"""Fit the weights by which covers of Strands are ranked, from published boards.

python -m benchmarks.strands_fit --name meant-13
"""
