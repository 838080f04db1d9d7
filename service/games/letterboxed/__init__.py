"""Letter Boxed at the doors: its plug, random payloads, and searches beside asks."""
