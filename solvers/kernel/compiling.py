"""How kernels are compiled: once per version of their sources, cached on disk, no GIL."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from llvmlite.binding import get_host_cpu_name
from numba.core import config
from numba.core.caching import FunctionCache, UserProvidedCacheLocator
from numba.core.runtime import rtsys

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
def source_digest(*paths: Path) -> str:
    """Hash source files with all that they import of the solvers: what kernels are valid for.

    A kernel calls functions of its own module and of modules that this one imports, however far
    away. Other sources may change and leave its machine code as it is.
    """
    files, new = set(paths), set(paths)
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


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Loads compiled kernels without what only compiling takes.

    Numba's own prepares to compile before it looks into its cache: it imports what it knows of
    NumPy and registers some thousand implementations, which takes 0.3 s. A compiled kernel needs
    none of that, and Numba prepares once more when it does compile. What allocates or counts
    references needs Numba's runtime.
    """

    def __init__(self, function: Callable[..., Any], *, counts: bool) -> None:
        super().__init__(function)
        self._counts = counts

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the machine code for a signature; None where there is none."""
        if self._counts:
            rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for a signature; warn where the cache folder takes none.

        The code is in memory already: without a file, it is compiled again by each process.
        """
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_of_cache(error.strerror or str(error))


@cache
def warn_of_cache(why: str) -> None:
    """Warn once a process that compiled kernels cannot be kept."""
    warnings.warn(
        f"compiled kernels cannot be kept in {cache_dir()}: {why}; each process compiles its own",
        RuntimeWarning,
        stacklevel=2,
    )


_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # Nothing calls a kernel through a C pointer, and a wrapper for that is compiled too.
    "no_cfunc_wrapper": True,
}
_WITHOUT_COUNTS = {**_OPTIONS, "_nrt": False}


def kernel(function: F) -> F:
    """Compile a function to machine code on first use and keep it in the on-disk cache."""
    return _compiled(function, _OPTIONS)


def search_kernel(function: F) -> F:
    """Compile a function that allocates nothing, without counting references to its arrays.

    Numba counts every array that is taken out of a tuple, with an atomic instruction; in a search
    that passes tuples of arrays around this takes half of the time.
    """
    return _compiled(function, _WITHOUT_COUNTS)


def inlined_kernel(function: F) -> F:
    """Compile a function as `search_kernel` does, into each of its callers, which are kernels.

    For small steps: every array among the arguments is passed as seven words, which costs more.
    """
    return _compiled(function, _WITHOUT_COUNTS, forceinline=True, no_cpython_wrapper=True)


def inner_kernel(function: F) -> F:
    """Compile a function as `search_kernel` does, for other kernels alone to call.

    Python must call neither it nor an inlined kernel (a test looks for that): there is no code by
    which it could. Taking some forty arrays from Python compiles for longer than most functions.
    """
    return _compiled(function, _WITHOUT_COUNTS, no_cpython_wrapper=True)


def _compiled(function: F, options: dict[str, Any], **more: Any) -> F:
    made = numba.njit(**options, **more)(function)
    made._cache = KernelCache(function, counts=options.get("_nrt", True))  # noqa: SLF001 - as cache=True does
    return made


def compiled_mark(package: Path) -> Path:
    """Name the file that says that all kernels of a package are compiled, for this processor."""
    digest = source_digest(*sorted(package.rglob("*.py")))
    return cache_dir() / f"{package.name}-{digest}-{get_host_cpu_name()}.compiled"
