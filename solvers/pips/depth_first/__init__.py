"""The first solution, depth first with propagation, for boards of at most 62 cells."""
