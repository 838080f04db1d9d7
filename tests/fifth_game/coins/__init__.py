"""Coins: which coins of a purse make the total?

The smallest whole game: what CONTRIBUTING.md, "Adding a game", takes as its example.
"""
