"""Tiles: clear a board of features, two tiles at a time.

`combo` builds a walk with teleports in linear time, `trail` one without if any two tiles share at
most one feature; `fewest_moves` searches in all other cases, and for walks of the fewest moves.
"""
