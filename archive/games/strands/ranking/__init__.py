"""Ranks covers of Strands by the meaning of words: models, their caches, and fitted weights."""
