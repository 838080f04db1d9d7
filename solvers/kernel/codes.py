"""How every kernel says that it is done, or why not: integers, which nightgrid.solvers.reasons
translates.

They stand in a module of their own, so that kernels are not compiled again when a sentence changes.
"""

from __future__ import annotations

DONE, OUT_OF_NODES, OUT_OF_BYTES, OUT_OF_SECONDS, COUNT_TOO_LARGE, FIXED_TABLE_FULL = range(6)
KERNEL_CODES = 6
"""Other endings of a kernel have numbers from here on, or below 0."""
