"""Gold: small tables for people, derived from editions, puzzles and results."""
