"""A worker process of Celery: its tasks, what is told of failures, how it begins and ends."""
