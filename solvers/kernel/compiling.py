"""How kernels are compiled: once per version of their sources, cached on disk, no GIL."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from numba.core import config
from numba.core.caching import UserProvidedCacheLocator

from nightgrid.solvers.kernel.cache_folder import cache_base

F = TypeVar("F", bound=Callable[..., Any])

Int = int | np.int64
"""An int64 in a kernel: Numba has one type for what Python and NumPy tell apart."""
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
"""Arrays that kernels take."""

_SOURCE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(
    rb"^\s*(?:from|import)\s+(?:\w+\.)*solvers\.([\w.]+)(?:\s+import\s+(\([^)]*\)|[^\n]*))?",
    re.MULTILINE,
)
"""An import from the solvers: the module's path inside them, and the names that are imported."""


@cache
def _read(path: Path) -> tuple[bytes, frozenset[Path]]:
    """Hash a file, and tell which files of the solvers it imports from."""
    text = path.read_bytes()
    found = set()
    for module, names in _IMPORT.findall(text):
        place = _SOURCE.joinpath(*module.decode().split("."))
        inside = [place / name for name in re.findall(r"\w+", names.decode())]
        for file in (place, place / "__init__", *inside):
            source = file.with_name(f"{file.name}.py")
            if source.is_file():
                found.add(source)
    return hashlib.sha256(text).digest(), frozenset(found)


@cache
def source_digest(path: Path) -> str:
    """Hash a source file with all that it imports of the solvers: what its kernels are valid for.

    A kernel calls functions of its own module and of modules that this one imports, however far
    away. Other sources may change and leave its machine code as it is.
    """
    files, new = {path}, {path}
    while new:
        new = set().union(*(_read(file)[1] for file in new)) - files
        files |= new
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(files):
        digest.update(file.relative_to(_SOURCE).as_posix().encode())
        digest.update(_read(file)[0])
    return digest.hexdigest()[:16]


def cache_dir() -> Path:
    """Choose where compiled kernels are kept.

    Numba raises at import when it finds no writable place, so `cache_base` always has one.
    """
    return Path(os.environ.get("NUMBA_CACHE_DIR") or cache_base() / "kernels")


class SourceCacheLocator(UserProvidedCacheLocator):  # type: ignore[misc]
    """Keeps a kernel under its module's path inside the solvers, and the digest of its sources.

    Numba's own locator takes the path on this machine: a wheel beside a clone, or an image whose
    kernels were compiled elsewhere, would compile the same source once more. And Numba checks only
    the file of the outermost function, so that a change in a function that it calls would go
    unnoticed; a folder per digest of all that is imported makes a stale kernel impossible.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Name the folder of a module's kernels."""
        path = Path(py_file).resolve()
        if not path.is_relative_to(_SOURCE):
            return str(super().get_suitable_cache_subpath(py_file))
        module = "-".join(path.relative_to(_SOURCE).with_suffix("").parts)
        return f"{module}-{source_digest(path)}"


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
