"""Strands: cover a board of letters with words, one of them a spangram."""
