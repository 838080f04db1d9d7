"""Prefect flows and their tasks."""
