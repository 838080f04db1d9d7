"""Tiles: clear a board of features, two tiles at a time.

`combo` builds a walk with teleports in linear time, `trail` one without where two tiles share at
most one feature; `fewest_moves` searches for all else, and for walks of the fewest moves.
"""
