"""Retention: what of a lake may go by its age, one module for each kind."""
