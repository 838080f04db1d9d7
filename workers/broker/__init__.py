"""State in Redis: messages, keys, and the length of the queues."""
