"""Let everything go wrong between two nights of a lake."""
