"""Staged counts: jobs whose states go from layer to layer, in parts that are bucket ranges."""
