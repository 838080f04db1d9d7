"""What lies in Redis: messages, keys, and what they say about the queues."""
