"""The search of Strands for boards of any size and alphabet."""
