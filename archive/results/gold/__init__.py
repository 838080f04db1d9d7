"""Gold: small tables for people, made anew from editions, puzzles, results and rankings."""
