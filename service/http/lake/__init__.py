"""Routes that read the lake: games, puzzles, pictures, results, runs."""
