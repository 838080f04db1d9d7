"""The fewest moves that clear a board of Tiles: bounds from below, walks from above."""
