"""Shared parts of kernels: compilation, bits, wide counts, the clock, the hash table."""
