"""What a worker does with a chunk: solve its rows, write its result."""
