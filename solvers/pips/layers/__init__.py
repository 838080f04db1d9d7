"""The search of Pips layer by layer: order of cells, states, counts, solutions.

The fast search: a state is a key of two or four machine words. It solves every board that fits its
tables (`endings` lists the refusals), unless `general.search.is_first_choice` prefers the other.
"""
