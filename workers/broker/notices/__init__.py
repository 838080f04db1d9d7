"""Notices through Redis, of what was done, refused or is to stop: losing one costs time alone."""
