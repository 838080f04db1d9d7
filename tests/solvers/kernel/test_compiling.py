"""Compiled kernels are kept per source, wherever the source is installed."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from numba.core.caching import FunctionCache

from nightgrid.solvers.kernel import compiling
from nightgrid.solvers.kernel.compiling import SourceCacheLocator

ROOT = Path(__file__).resolve().parents[3]
USE_A_KERNEL = """
import numpy as np
from nightgrid.solvers.kernel.wide import over_limit
assert not over_limit(np.uint64(0), np.uint64(1))
print(sum(over_limit.stats.cache_hits.values()), sum(over_limit.stats.cache_misses.values()))
"""


def copied(folder: Path) -> Path:
    """Copy the solvers, as a package with nothing else, into a folder."""
    solvers = folder / "nightgrid" / "solvers"
    shutil.copytree(ROOT / "solvers", solvers, ignore=shutil.ignore_patterns("__pycache__"))
    # Without it the folder would be a namespace package, over which Python prefers any other.
    (folder / "nightgrid" / "__init__.py").touch()
    return solvers


@pytest.fixture
def digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Return the cache key of a module of a copy of the solvers, as in a new process."""
    solvers = copied(tmp_path)
    monkeypatch.setattr(compiling, "_SOURCE", solvers)

    def name(module: str) -> str:
        compiling._read.cache_clear()
        compiling.source_digest.cache_clear()
        return SourceCacheLocator.get_suitable_cache_subpath(str(solvers / module))

    yield name
    compiling._read.cache_clear()
    compiling.source_digest.cache_clear()


@pytest.mark.parametrize(
    ("changed", "stays"),
    [
        ("pips/layers/expand.py", False),
        ("kernel/machine.py", False),
        ("kernel/compiling.py", False),
        ("strands/zones/zones.py", True),
        ("registry.py", True),
    ],
)
def test_a_kernel_is_valid_until_something_that_it_imports_changes(
    changed: str, stays: bool, tmp_path: Path, digest: Callable[[str], str]
):
    before = digest("pips/layers/count.py")
    with (tmp_path / "nightgrid" / "solvers" / changed).open("a") as file:
        file.write("# changed\n")
    assert (digest("pips/layers/count.py") == before) is stays


def test_the_mark_of_a_compiled_game_depends_on_all_its_sources(
    tmp_path: Path, digest: Callable[[str], str]
):
    solvers = tmp_path / "nightgrid" / "solvers"
    digest("pips/layers/count.py")
    before = compiling.compiled_mark(solvers / "pips")
    assert before.name.startswith("pips-")
    assert before == compiling.compiled_mark(solvers / "pips")
    with (solvers / "kernel" / "machine.py").open("a") as file:
        file.write("# changed\n")
    digest("pips/layers/count.py")
    assert compiling.compiled_mark(solvers / "pips") != before


@pytest.mark.slow
def test_a_second_copy_of_the_source_compiles_nothing(tmp_path: Path):
    def hits_and_misses(folder: Path) -> str:
        return subprocess.run(
            [sys.executable, "-c", USE_A_KERNEL],
            cwd=folder,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": "."},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    for copy in ("first", "second"):
        copied(tmp_path / copy)
    assert hits_and_misses(tmp_path / "first") == "0 1"
    assert hits_and_misses(tmp_path / "second") == "1 0"


def test_a_full_cache_folder_loses_only_the_file_and_warns_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    compiling.warn_of_cache.cache_clear()

    def one_more(number: int) -> int:
        return number + 1

    with pytest.warns(RuntimeWarning, match="cannot be cached in .*: No space left on"):
        assert compiling.kernel(one_more)(1) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiling.kernel(one_more)(1.0) == 2.0


def test_the_cache_of_a_kernel_is_set_up_when_it_is_first_called(monkeypatch: pytest.MonkeyPatch):
    made: list[object] = []
    cache_of = compiling.KernelCache.__init__

    def counted(self: object, function: object, **options: object) -> None:
        made.append(function)
        cache_of(self, function, **options)

    monkeypatch.setattr(compiling.KernelCache, "__init__", counted)

    def twice(number: int) -> int:
        return 2 * number

    compiled = compiling.kernel(twice)
    assert made == []
    assert compiled(2) + compiled(3.0) == 10
    assert made == [twice]
