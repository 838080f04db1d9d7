"""Prefect around nights and counts: flows, the schedule, and the server that keeps them."""
