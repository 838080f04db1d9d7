"""Lexicons: the words that word games are solved with, as flat arrays."""
