"""The fewest moves that clear a board of Tiles: lower bounds and walks."""
