"""Processes that are hit: clusters of them, places that fail, and faults within a process."""
