"""Check, repair and prune the files of a lake."""
