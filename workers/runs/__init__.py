"""A run in the lake: manifest, chunks, growth, finish."""
