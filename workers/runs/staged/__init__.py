"""Counts that go on by stages: the states between layers, and the parts that carry them on."""
