# ruff: noqa: INP001 - no package: found by its name on PYTHONPATH
"""Set the clock of a Python process wrong: found first on PYTHONPATH, read before anything else."""

import os
import time

_SKEW_S = float(os.environ.get("NIGHTGRID_CHAOS_SKEW_S") or 0)
_right = time.time

if _SKEW_S:
    time.time = lambda: _right() + _SKEW_S
