"""The searches of Letter Boxed over the graph of states."""
