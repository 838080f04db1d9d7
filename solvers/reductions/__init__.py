"""Hard instances of the games: the reductions of article 000, with solutions mapped both ways."""
