"""Which cover was meant: what pieces of a board score, and the covers of the highest scores."""
