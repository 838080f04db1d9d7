"""The search of Strands spangram by spangram, zone by zone."""
