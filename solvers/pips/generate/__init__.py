"""Random boards of Pips that are solvable by construction."""
