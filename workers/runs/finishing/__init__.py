"""The end of a run: answers gathered from chunk results, merged, and written as results."""
