"""Strands in the archive: its plug, tables, official covers, themes of generated boards."""
