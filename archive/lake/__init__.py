"""The lake: storage, commits, schemas and encoding of tables."""
