"""Compiled kernels are kept per source, wherever the source is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nightgrid.solvers.kernel.compiling import SourceCacheLocator

ROOT = Path(__file__).resolve().parents[3]
USE_A_KERNEL = """
import numpy as np
from nightgrid.solvers.kernel.wide import over_limit
assert not over_limit(np.uint64(0), np.uint64(1))
print(sum(over_limit.stats.cache_hits.values()), sum(over_limit.stats.cache_misses.values()))
"""


def copied(folder: Path) -> Path:
    """Copy the solvers, as a package that has nothing else, into a folder."""
    solvers = folder / "nightgrid" / "solvers"
    shutil.copytree(ROOT / "solvers", solvers, ignore=shutil.ignore_patterns("__pycache__"))
    # Without it the folder would be a namespace package, before which Python takes any other.
    (folder / "nightgrid" / "__init__.py").touch()
    return solvers


def test_a_kernel_lies_under_its_path_inside_the_solvers():
    file = str(ROOT / "solvers" / "pips" / "layers" / "count.py")
    name = SourceCacheLocator.get_suitable_cache_subpath(file)
    assert re.fullmatch(r"pips-layers-count-[0-9a-f]{16}", name)


@pytest.mark.slow
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
    changed: str, stays: bool, tmp_path: Path
):
    script = (
        "import sys; from nightgrid.solvers.kernel.compiling import SourceCacheLocator as locator; "
        "print(locator.get_suitable_cache_subpath(sys.argv[1]))"
    )
    solvers = copied(tmp_path)
    command = [sys.executable, "-c", script, solvers / "pips" / "layers" / "count.py"]

    def name() -> str:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": "."},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    before = name()
    with (solvers / changed).open("a") as file:
        file.write("# changed\n")
    assert (name() == before) is stays


def test_functions_from_elsewhere_lie_under_their_whole_path(tmp_path: Path):
    files = [str(tmp_path / folder / "pips" / "count.py") for folder in ("one", "other")]
    names = {SourceCacheLocator.get_suitable_cache_subpath(file) for file in files}
    assert len(names) == 2


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
