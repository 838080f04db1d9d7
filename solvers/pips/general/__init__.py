"""The search of Pips for boards of any size and pips of any height.

For boards that the layers refuse, such as those of more than 1,024 cells, and for those with one
tiling and many different dominoes, which it counts faster (`search.is_first_choice`).
"""
