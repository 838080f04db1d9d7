"""Tiles: clear a board of features, two tiles at a time."""
