"""How kernels are compiled: once per version of the solvers' source, cached on disk, no GIL."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])

_SOURCE = Path(__file__).resolve().parent


def source_digest() -> str:
    """Hash every source file of the solvers: what compiled kernels are valid for."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_SOURCE.rglob("*.py")):
        digest.update(path.relative_to(_SOURCE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_dir() -> Path:
    """Choose where compiled kernels are kept.

    Numba checks only the file of the outermost function, so a change in a function that it calls
    would go unnoticed; a folder per digest of all sources makes a stale kernel impossible. And
    Numba raises at import when it finds no writable place, so the last resort is a private
    folder for temporary files.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / source_digest()
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
            # Compiled code is loaded from there: a folder that others can write on is no place.
            base = Path(tempfile.mkdtemp(prefix="nightgrid-"))
    return base / "kernels" / source_digest()


config.CACHE_DIR = str(cache_dir())


def kernel(function: F) -> F:
    """Compile a function to machine code on first use and keep it in the on-disk cache."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
