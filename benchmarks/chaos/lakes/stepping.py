"""A lake of which every step can be watched, stopped or filled with something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake


class KilledError(BaseException):
    """Stands for the end of the process: nothing handles it."""


class SteppingLake(Lake):
    """The lake of another one, which calls `before` with the number and name of each step."""

    def __init__(self, lake: Lake, before: Callable[[int, str], None]) -> None:
        super().__init__(lake._storage)  # noqa: SLF001 - it is the same lake
        self.steps = 0
        self._before = before

    def _step(self, name: str) -> None:
        self.steps += 1
        self._before(self.steps, name)

    def sizes(self, prefix: str = "", *, deep: bool = True) -> dict[str, int]:
        """List, as a step."""
        self._step(f"list {prefix}")
        return super().sizes(prefix, deep=deep)

    def names(self, folder: str) -> list[str]:
        """List, as a step."""
        self._step(f"list {folder}")
        return super().names(folder)

    def delete(self, path: str, *, durable: bool = True) -> None:
        """Delete, as a step."""
        self._step(f"delete {path}")
        super().delete(path, durable=durable)

    @contextmanager
    def open_file(self, path: str) -> Iterator[pa.NativeFile]:
        """Open, as a step."""
        self._step(f"read {path}")
        with super().open_file(path) as file:
            yield file

    def _commit(self, path: Any, fill: Any, **how: Any) -> bool:
        self._step(f"write {path}")
        return super()._commit(path, fill, **how)


def killed_at(step: int) -> Callable[[int, str], None]:
    """Kill before a step."""

    def before(number: int, name: str) -> None:
        if number == step:
            raise KilledError(name)

    return before


def doing_at(step: int, action: Callable[[], object]) -> Callable[[int, str], None]:
    """Do something else before a step."""

    def before(number: int, _: str) -> None:
        if number == step:
            action()

    return before
