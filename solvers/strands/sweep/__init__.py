"""The search of Strands cell by cell, for any number of words."""
