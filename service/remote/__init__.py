"""The client of a remote service, for the commands that take `--url`."""
