"""Options of the command line, as values that commands share."""
