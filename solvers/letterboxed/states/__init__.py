"""The graph of states that chains of Letter Boxed lead through."""
