"""Measure runs from the plan to the rows."""
