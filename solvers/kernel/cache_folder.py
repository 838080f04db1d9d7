"""Where this machine keeps what can be made anew: compiled kernels and lexicons."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def cache_base() -> Path:
    """Choose and make the folder: nightgrid under XDG_CACHE_HOME or ~/.cache.

    Where that cannot be written, a private folder for temporary files.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nightgrid"
    try:
        base.mkdir(parents=True, exist_ok=True)
        writable = os.access(base, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        base = Path(tempfile.gettempdir()) / f"nightgrid-{os.getuid()}"
        base.mkdir(mode=0o700, exist_ok=True)
        found = base.lstat()
        if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
            # Code is loaded from there: a folder that others can write on is no place.
            base = Path(tempfile.mkdtemp(prefix="nightgrid-"))
    return base
