"""Coins: which coins of a purse make the total?

The smallest complete game, the example of docs/how-to/add-a-game.md.
"""
