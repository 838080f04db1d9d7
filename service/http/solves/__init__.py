"""Solves over HTTP: asking, waiting, following, leaving, and what was found."""
