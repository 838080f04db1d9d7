"""Common parts of the payloads of all games, and their parsers."""
