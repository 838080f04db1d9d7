"""Compile the kernels of games ahead of time: once a machine, several games in parallel."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from pathlib import Path

from nightgrid.solvers.child_processes import pool_of
from nightgrid.solvers.kernel.compiling import compiled_mark
from nightgrid.solvers.registry import game


def warm(name: str, *, rare: bool = False) -> float:
    """Compile or load the kernels of a game, and leave a mark for `is_compiled`.

    `rare`: also those that few boards need, which are otherwise compiled on demand. Returns the
    seconds it took. Raises PermanentError for an unknown game.
    """
    begun = time.monotonic()
    bound = game(name)
    bound.warm()
    if rare:
        bound.warm_rare()
    mark = _mark(name)
    if mark is not None:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return time.monotonic() - begun


def is_compiled(name: str) -> bool:
    """Return whether a process needs only to load the kernels of a game, a few at a time."""
    mark = _mark(name)
    return mark is not None and mark.exists()


def warm_side_by_side(
    names: Sequence[str], processes: int, *, rare: bool = False
) -> Iterator[tuple[str, float]]:
    """Compile the kernels of games in processes of their own, and yield each with its seconds.

    The game with the most source comes first: it takes longest, and the others fit in parallel.
    """
    size = {
        name: sum(len(file.read_bytes()) for file in _package(name).rglob("*.py")) for name in names
    }
    with pool_of(processes) as pool:
        largest_first = sorted(names, key=lambda name: -size[name])
        begun = {pool.submit(warm, name, rare=rare): name for name in largest_first}
        for done in as_completed(begun):
            yield begun[done], done.result()


def _package(name: str) -> Path:
    """Return the folder of a game's solver; a game of another distribution has none here."""
    return Path(__file__).resolve().parent / name


def _mark(name: str) -> Path | None:
    """Name a game's mark; None for a game from elsewhere, whose sources we do not follow."""
    package = _package(name)
    return compiled_mark(package) if package.is_dir() else None
