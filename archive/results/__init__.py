"""Results, solutions, and the tables for people made from them."""
