"""See how far the house carries, by measuring and by a model."""
