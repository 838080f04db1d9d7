"""Tiles in the service: its plug and its view."""
