"""Ranked covers of Strands boards over HTTP."""
