"""The pieces of a board of Strands: words and compounds on their sets of cells."""
