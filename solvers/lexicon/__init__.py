"""Lexicons: the words of word games, as flat arrays."""
