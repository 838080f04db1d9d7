"""Results, solutions, and the tables for people derived from them."""
