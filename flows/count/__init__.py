"""The count of a corpus as plain functions: settings, planner, steps, report."""
