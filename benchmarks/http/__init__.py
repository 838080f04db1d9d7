"""Measure the HTTP service from outside."""
