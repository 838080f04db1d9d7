"""A job on demand that a worker shares with processes that are idle: by ranges, or by threads."""
