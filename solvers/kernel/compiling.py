"""Compilation of kernels: once per version of their sources, cached on disk, without the GIL."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from llvmlite.binding import get_host_cpu_name
from numba.core import config
from numba.core.caching import FunctionCache, UserProvidedCacheLocator, _Cache
from numba.core.runtime import rtsys

from nightgrid.solvers.kernel.cache_folder import cache_base

F = TypeVar("F", bound=Callable[..., Any])

Int = int | np.int64
"""An int64 in a kernel: Numba has one type where Python and NumPy have two."""
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
"""An import from the solvers: the module's path inside them, and the imported names."""


@cache
def _read(path: Path) -> tuple[bytes, frozenset[Path]]:
    """Hash a file, and return the files of the solvers that it imports from."""
    text = path.read_bytes()
    found: set[Path] = set()
    for module, names in _IMPORT.findall(text):
        place = _SOURCE.joinpath(*module.decode().split("."))
        source = place.with_name(f"{place.name}.py")
        if source.is_file():
            # The names in it are not modules.
            found.add(source)
            continue
        inside = [place / f"{name}.py" for name in re.findall(r"\w+", names.decode())]
        found.update(file for file in (place / "__init__.py", *inside) if file.is_file())
    return hashlib.sha256(text).digest(), frozenset(found)


@cache
def source_digest(*paths: Path) -> str:
    """Hash source files and everything that they import from the solvers: the key of the kernel
    cache.

    A kernel calls functions of its own module and of modules that it imports, directly or not.
    Other sources do not affect its machine code.
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
    """Return the folder for compiled kernels.

    Numba raises at import if no place is writable, so `cache_base` always returns one.
    """
    return Path(os.environ.get("NUMBA_CACHE_DIR") or cache_base() / "kernels")


class SourceCacheLocator(UserProvidedCacheLocator):  # type: ignore[misc]
    """Stores a kernel under its module's path inside the solvers, and the digest of its sources.

    Numba's own locator uses the path on this machine: a wheel next to a clone, or an image whose
    kernels were compiled elsewhere, would compile the same source again. And Numba checks only the
    file of the outermost function, so a change in a called function would go unnoticed; a folder
    per digest of all imports makes stale kernels impossible.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Return the folder of a module's kernels."""
        path = Path(py_file).resolve()
        if not path.is_relative_to(_SOURCE):
            return str(super().get_suitable_cache_subpath(py_file))
        module = "-".join(path.relative_to(_SOURCE).with_suffix("").parts)
        return f"{module}-{source_digest(path)}"


config.CACHE_DIR = str(cache_dir())
config.CACHE_LOCATOR_CLASSES = ",".join(
    # Numba's own locators are the fallback for foreign functions that our folder cannot cache.
    [f"{__name__}.SourceCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator"]
)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Loads compiled kernels without the setup that only compilation needs.

    Numba's own cache prepares to compile before each look-up: it imports its NumPy support and
    registers some thousand implementations, which takes 0.3 s. A compiled kernel needs none of
    that, and Numba prepares again when it does compile. Kernels that allocate or count references
    need Numba's runtime.
    """

    def __init__(self, function: Callable[..., Any], *, counts: bool) -> None:
        super().__init__(function)
        self._counts = counts

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the machine code for a signature; None if there is none."""
        if self._counts:
            rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache the machine code for a signature; warn if the cache folder is not writable.

        The code is already in memory; without a file, each process compiles its own.
        """
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_of_cache(error.strerror or str(error))


class KernelCacheOnDemand(_Cache):  # type: ignore[misc]
    """The cache of a kernel, set up when the kernel is first called.

    A process loads a hundred kernels and calls two or three from Python. Numba probes the cache
    folder for each, which takes longer than importing it.
    """

    def __init__(self, function: Callable[..., Any], *, counts: bool) -> None:
        self._function, self._counts = function, counts
        # Hashed now: the file may have changed by the time the kernel is called.
        SourceCacheLocator.get_suitable_cache_subpath(function.__code__.co_filename)

    @cached_property
    def _cache(self) -> KernelCache:
        return KernelCache(self._function, counts=self._counts)

    @property
    def cache_path(self) -> Any:
        """The folder of the kernel's machine code."""
        return self._cache.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """See KernelCache."""
        return self._cache.load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """See KernelCache."""
        self._cache.save_overload(sig, data)

    def enable(self) -> None:
        """Use the cache."""
        self._cache.enable()

    def disable(self) -> None:
        """Stop using the cache."""
        self._cache.disable()

    def flush(self) -> None:
        """Clear the cache."""
        self._cache.flush()


@cache
def warn_of_cache(why: str) -> None:
    """Warn once a process that compiled kernels cannot be cached."""
    warnings.warn(
        f"compiled kernels cannot be cached in {cache_dir()}: {why}; each process compiles its own",
        RuntimeWarning,
        stacklevel=2,
    )


_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # Nothing calls a kernel through a C pointer, and its wrapper would be compiled too.
    "no_cfunc_wrapper": True,
}
_WITHOUT_COUNTS = {**_OPTIONS, "_nrt": False}


def kernel(function: F) -> F:
    """Compile a function to machine code on first use, and cache it on disk."""
    return _compiled(function, _OPTIONS)


def search_kernel(function: F) -> F:
    """Compile a function that allocates nothing, without reference counts for its arrays.

    Numba counts every array that is taken out of a tuple, with an atomic instruction; in a search
    that passes around tuples of arrays, this takes half of the time.
    """
    return _compiled(function, _WITHOUT_COUNTS)


def inlined_kernel(function: F) -> F:
    """Compile a function as `search_kernel` does, inlined into each calling kernel.

    For small steps: every array among the arguments is passed as seven words, which costs more.
    """
    return _compiled(function, _WITHOUT_COUNTS, forceinline=True, no_cpython_wrapper=True)


def inner_kernel(function: F) -> F:
    """Compile a function as `search_kernel` does, only for calls from other kernels.

    Python must call neither it nor an inlined kernel, as there is no wrapper for
    that. Converting some forty arrays from Python takes longer to compile than most functions.
    """
    return _compiled(function, _WITHOUT_COUNTS, no_cpython_wrapper=True)


def _compiled(function: F, options: dict[str, Any], **more: Any) -> F:
    made = numba.njit(**options, **more)(function)
    made._cache = KernelCacheOnDemand(function, counts=options.get("_nrt", True))  # noqa: SLF001 - as cache=True does
    return made


def compiled_mark(package: Path) -> Path:
    """Return the file that marks all kernels of a package as compiled, for this processor."""
    digest = source_digest(*sorted(package.rglob("*.py")))
    return cache_dir() / f"{package.name}-{digest}-{get_host_cpu_name()}.compiled"
