"""Celery: the app, its tasks and queues, executors and the embedded server."""
