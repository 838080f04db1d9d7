"""Solves over HTTP: submit, wait, follow, leave, and read results."""
