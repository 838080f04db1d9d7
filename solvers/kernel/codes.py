"""Result codes of kernels: integers, which nightgrid.solvers.reasons translates.

They have a module of their own, so that changing a sentence does not recompile kernels.
"""

from __future__ import annotations

DONE, OUT_OF_NODES, OUT_OF_BYTES, OUT_OF_SECONDS, COUNT_TOO_LARGE, FIXED_TABLE_FULL = range(6)
KERNEL_CODES = 6
"""Further result codes of a kernel start here, or are negative."""
