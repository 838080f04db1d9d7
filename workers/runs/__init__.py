"""What a run is in the lake: manifest, chunks, growth, finish."""
