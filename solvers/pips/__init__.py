"""Pips: tile a board with dominoes so that every region's constraint holds."""
