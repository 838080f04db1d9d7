"""The search of Strands for boards of any size and alphabet.

For words longer than the window of the sweep, for more than 250 words, and for boards of more than
63 cells that the sweep does not finish within its nodes: chosen by `listing.engine_for`. It is
plain Python, and takes some fifty times as long a state.
"""
