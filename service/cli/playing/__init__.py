"""Commands with which boards are played."""
