"""Letter Boxed in the archive: its plug, the puzzles table, observations, boards of corpora."""
