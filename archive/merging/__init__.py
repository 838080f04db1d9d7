"""Folders of many small files that become few: their names, how they are read, how they merge."""
