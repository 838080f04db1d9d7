"""From a source into the lake: fetched, kept raw, normalised into puzzles and editions."""
