"""Let everything go wrong in the middle of runs, and compare the results byte for byte."""
