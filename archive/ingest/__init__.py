"""From a source into the lake: fetch, keep raw, normalise into puzzles and editions."""
