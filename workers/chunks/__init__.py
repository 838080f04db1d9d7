"""What a worker does with a chunk: solve its rows and write the chunk result."""
