"""The report of a lake after a night: one HTML file without scripts or outside requests."""
