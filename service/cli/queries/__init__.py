"""Commands that answer questions about a lake: SQL over its views, and its report."""
