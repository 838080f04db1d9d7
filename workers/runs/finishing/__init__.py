"""The end of a run: answers gathered from chunk results, merged, and filed as results."""
