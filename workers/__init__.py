"""Runs planned, driven and finished; on-demand jobs; Celery's tasks; the cluster here."""
