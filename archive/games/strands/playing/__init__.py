"""Playing boards of Strands: covers are searched again under the answers so far."""
