"""Pips at the doors: its plug, and how it is shown."""
