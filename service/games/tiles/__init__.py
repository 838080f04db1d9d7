"""Tiles at the doors: its plug, and random boards."""
