"""Routes that monitor the service: its queue, its health, its metrics."""
