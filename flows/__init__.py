"""Nights and counts: plain steps, and the Prefect flows that wrap them."""
