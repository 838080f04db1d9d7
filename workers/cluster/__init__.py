"""Processes on this machine: server, workers, their supervisor."""
