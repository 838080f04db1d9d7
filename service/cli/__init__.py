"""The command line: its commands, and what several of them print."""
