"""The words of word games: lexicons, their cache, and games bound to them."""
