"""Ranks covers of Strands by what words mean: the models, their caches, and fitted weights."""
