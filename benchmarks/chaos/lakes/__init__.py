"""Let everything go wrong between two nights, merges and doors of a lake."""
