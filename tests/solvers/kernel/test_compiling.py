"""Compiled kernels are kept per source, wherever the source is installed."""

from __future__ import annotations

import ast
import errno
import os
import re
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


@pytest.fixture
def digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Name the kernels of a module of a copy of the solvers, as a process would that begins now."""
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


def test_the_mark_of_a_compiled_game_goes_with_any_of_its_sources(
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


KERNELS = {"kernel", "search_kernel", "inlined_kernel"}
"""The decorators that compile a function."""


def decorators(node: ast.AST) -> set[str]:
    found = getattr(node, "decorator_list", [])
    return {decorator.id for decorator in found if isinstance(decorator, ast.Name)}


def parsed(folder: str, name: re.Pattern[str]) -> dict[str, ast.Module]:
    """Parse the modules of a folder in which a name stands: most have none, and all take long."""
    texts = {path: path.read_text() for path in sorted((ROOT / folder).rglob("*.py"))}
    return {
        str(path.relative_to(ROOT).with_suffix("")).replace(os.sep, "."): ast.parse(text)
        for path, text in texts.items()
        if name.search(text)
    }


def called(function: ast.expr) -> str:
    """Write what is called as the source does, where it is a name or a module's."""
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{function.value.id}.{function.attr}"
    return ""


def called_from_python(tree: ast.Module, inlined: dict[str, set[str]], module: str) -> list[str]:
    """List calls of inlined kernels outside of kernels, as `name:line`."""
    known = set(inlined.get(module, ()))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            source = (node.module or "").removeprefix("nightgrid.")
            for name in node.names:
                here = name.asname or name.name
                if name.name in inlined.get(source, ()):
                    known.add(here)
                known |= {f"{here}.{kernel}" for kernel in inlined.get(f"{source}.{name.name}", ())}
    found = []

    def visit(node: ast.AST, *, compiled: bool) -> None:
        compiled = compiled or bool(decorators(node) & KERNELS)
        if isinstance(node, ast.Call) and not compiled and called(node.func) in known:
            found.append(f"{called(node.func)}:{node.lineno}")
        for child in ast.iter_child_nodes(node):
            visit(child, compiled=compiled)

    if known:
        visit(tree, compiled=False)
    return found


def test_python_calls_no_kernel_that_is_only_inlined():
    # A call would end the process: there is no machine code for it.
    inlined = {
        module: {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and "inlined_kernel" in decorators(node)
        }
        for module, tree in parsed("solvers", re.compile("inlined_kernel")).items()
    }
    # A module has a name of another one's from it, or from its package.
    owners = {module for module, names in inlined.items() if names}
    sources = "|".join(map(re.escape, owners | {module.rpartition(".")[0] for module in owners}))
    imports = re.compile(rf"^\s*from nightgrid\.({sources}) import|inlined_kernel", re.MULTILINE)
    trees = {
        module: tree
        for folder in ("solvers", "tests", "benchmarks")
        for module, tree in parsed(folder, imports).items()
    }
    assert sum(map(len, inlined.values())) > 50
    calls = {module: called_from_python(tree, inlined, module) for module, tree in trees.items()}
    assert {module: found for module, found in calls.items() if found} == {}


def test_a_call_of_an_inlined_kernel_from_python_is_found():
    tree = ast.parse(
        "from nightgrid.solvers.a import step as s\n"
        "from nightgrid.solvers import a as steps\n"
        "@kernel\ndef inside():\n    return s(1) + steps.step(2)\n"
        "def outside():\n    return s(1) + steps.step(2)\n"
    )
    found = called_from_python(tree, {"solvers.a": {"step"}}, "solvers.b")
    assert sorted(found) == ["s:7", "steps.step:7"]


def test_a_full_cache_folder_costs_the_file_alone_and_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    compiling.warn_of_cache.cache_clear()

    def one_more(number: int) -> int:
        return number + 1

    with pytest.warns(RuntimeWarning, match="cannot be kept in .*: No space left on"):
        assert compiling.kernel(one_more)(1) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiling.kernel(one_more)(1.0) == 2.0
