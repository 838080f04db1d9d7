"""Checks before every route: headers, validation of requests, keys and their limits."""
