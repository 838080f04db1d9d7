"""What stands before every route: headers, checks of requests, keys and their limits."""
