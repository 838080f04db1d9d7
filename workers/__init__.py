"""Plan, drive and finish runs; on-demand jobs; the Celery tasks; the local cluster."""
