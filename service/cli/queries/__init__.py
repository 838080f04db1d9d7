"""Commands that query a lake: SQL over its views, and its report."""
