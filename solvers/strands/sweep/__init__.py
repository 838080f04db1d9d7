"""The search of Strands cell by cell, for any number of words.

For boards and rules that the zones do not support, if every piece fits into a window of 64 cells:
chosen by `listing.engine_for`.
"""
