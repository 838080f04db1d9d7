"""Folders of many small files that are merged into few: naming, reading, merging."""
