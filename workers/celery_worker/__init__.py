"""A Celery worker process: its tasks, its failure reports, its start and end."""
