"""`nightgrid count`: a count is worked, estimated or cancelled, and what it found is shown."""
