"""What is said on the command line, as values that commands share."""
