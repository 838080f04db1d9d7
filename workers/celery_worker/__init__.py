"""A worker process of Celery: its tasks, how failures are reported, how it begins and ends."""
