"""The night as plain functions: settings, steps, report."""
