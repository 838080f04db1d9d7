"""Strands at the doors: its plug."""
