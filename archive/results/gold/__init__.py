"""Gold: small tables for people, made anew from editions, puzzles and results."""
