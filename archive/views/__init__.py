"""Views of a lake: its tables under short names, only with the rows that count, each once."""
