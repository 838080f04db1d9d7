"""Shared states of both fast searches of Strands: states, sets, supports."""
