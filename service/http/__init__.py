"""The HTTP service: routes, problems, events, keys, and the state of its process."""
