"""The search of Pips for boards of any size and pips of any height."""
