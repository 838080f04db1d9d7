"""The search of Strands spangram by spangram, zone by zone.

The fast search of published boards, chosen by `listing.engine_for` for up to 63 cells, a known
number of theme words, and rules with a spangram.
"""
