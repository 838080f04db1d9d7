"""Measure nights, months of them, and upgrades."""
