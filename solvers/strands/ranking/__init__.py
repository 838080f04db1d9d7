"""Ranking covers by how likely each was meant: scores of pieces, and the best covers."""
