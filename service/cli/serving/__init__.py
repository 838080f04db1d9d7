"""Commands that run until they are stopped, and the keys of the service."""
