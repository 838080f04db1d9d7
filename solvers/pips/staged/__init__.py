"""A count of Pips whose states are handed out between layers."""
