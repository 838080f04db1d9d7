"""The search of Strands for boards of any size and alphabet.

For words that are longer than the window of the sweep, more than 250 words, and boards of more than
63 cells that the sweep does not finish within its nodes: chosen by `listing.engine_for`. It is
plain Python, some fifty times slower a state.
"""
