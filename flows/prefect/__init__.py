"""Prefect around nights and counts: flows, the schedule, and the Prefect server."""
