"""Processes on this machine: server, workers, and their supervisor."""
