"""The HTTP service: routes, problems, events, keys and what a process of it needs."""
