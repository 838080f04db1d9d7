"""What all kernels share: how they are compiled, bits, wide counts, the clock, the hash table."""
