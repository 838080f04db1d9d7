"""Routes that watch the service: its queue, its health, its figures."""
