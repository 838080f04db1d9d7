"""Coins: which coins of a purse make the total?

The smallest whole game: what docs/how-to/add-a-game.md takes as its example.
"""
