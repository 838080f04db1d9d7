"""Files by which a fault suite and the workers that it hits tell one another something."""

from __future__ import annotations

import os
from pathlib import Path

EXECUTIONS = "executions.log"
"""Gets a line for every chunk that is begun."""
DIE_BEFORE_RENAME = "die-before-rename"
"""While it stands, the next part that is written takes its process along between writing it and
giving it its name; once."""
DISK_FULL = "disk-full"
"""While it stands, nothing can be written into the lake."""


def chaos_folder() -> Path:
    """Return the folder of these files, as a worker is told it."""
    return Path(os.environ["NIGHTGRID_CHAOS_DIR"])


def claim_death() -> bool:
    """Return whether this process is the one that is to die while it files a part."""
    try:
        (chaos_folder() / DIE_BEFORE_RENAME).unlink()
    except FileNotFoundError:
        return False
    return True
