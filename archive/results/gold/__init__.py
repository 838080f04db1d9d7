"""Gold: small tables for people, made again from editions, puzzles and results."""
