"""The graph of states of Letter Boxed chains."""
