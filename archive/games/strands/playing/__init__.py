"""Play boards of Strands: search covers again under the answers so far."""
