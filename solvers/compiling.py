"""How kernels are compiled: once per version of the solvers' source, cached on disk, no GIL."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config
from numba.core.caching import UserProvidedCacheLocator

from solvers.cache_folder import cache_base

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
    Numba raises at import when it finds no writable place, so `cache_base` always has one.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / source_digest()
    return cache_base() / "kernels" / source_digest()


class SourceCacheLocator(UserProvidedCacheLocator):  # type: ignore[misc]
    """Keeps a kernel under its module's path inside the solvers, wherever these are installed.

    Numba's own locator takes the path on this machine: a wheel beside a clone, or an image whose
    kernels were compiled elsewhere, would compile the same source once more.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Name the folder of a module's kernels."""
        path = Path(py_file).resolve()
        if not path.is_relative_to(_SOURCE):
            return str(super().get_suitable_cache_subpath(py_file))
        return "-".join(path.relative_to(_SOURCE).with_suffix("").parts)


config.CACHE_DIR = str(cache_dir())
config.CACHE_LOCATOR_CLASSES = ",".join(
    # Numba's own follow for functions of others: where they cannot be kept in our folder.
    [f"{__name__}.SourceCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator"]
)


def kernel(function: F) -> F:
    """Compile a function to machine code on first use and keep it in the on-disk cache."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def search_kernel(function: F) -> F:
    """Compile a function that allocates nothing, without counting references to its arrays.

    Numba counts every array that is taken out of a tuple, with an atomic instruction; in a search
    that passes tuples of arrays around this takes half of the time.
    """
    return numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)(function)


def inlined_kernel(function: F) -> F:
    """Compile a function as `search_kernel` does, into each of its callers.

    For small steps: every array among the arguments is passed as seven words, which costs more.
    """
    options = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
    return numba.njit(forceinline=True, **options)(function)
