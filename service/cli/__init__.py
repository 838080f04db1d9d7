"""The command line: its commands, and their common output."""
