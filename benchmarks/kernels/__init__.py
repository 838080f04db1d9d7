"""Measure engines alone, in one process."""
