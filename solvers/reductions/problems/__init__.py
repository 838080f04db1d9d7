"""The reduced problems: instances and their formats."""
