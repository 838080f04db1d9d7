"""Pips at the doors: its plug, and mixes of boards as a person asks for them."""
