"""Prefect around the night and the count: tasks, artifacts, environment."""
