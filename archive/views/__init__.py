"""Views of a lake: its tables under short names, each row that counts once."""
