"""Letter Boxed in the service: its plug, random payloads, and searches beyond asks."""
