"""How much a query may take: seconds, and memory of DuckDB and of what is read of the lake."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from nightgrid.solvers.errors import PermanentError

SECONDS = 60.0
MEMORY_BYTES = 2**30


class QueryError(PermanentError):
    """A query is refused, or does not end within its bounds."""


@dataclass(slots=True)
class Bounds:
    """How much a query may take. Its time runs while the lake or DuckDB work, not their readers."""

    seconds: float = SECONDS
    memory_bytes: int = MEMORY_BYTES
    """Bytes of DuckDB, and as many of what is read of the lake."""
    _left_s: float = field(init=False)
    _held_bytes: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._left_s = self.seconds

    @contextmanager
    def working(self, base: Any = None) -> Iterator[None]:
        """Take the time of what is done within; interrupt `base` when it is up."""
        begun = time.monotonic()
        timer = None
        if base is not None:
            timer = threading.Timer(max(0.0, self._left_s), base.interrupt)
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
                # It holds `base`, and a process that ends meanwhile would be told of a leak.
                timer.join()
            self._left_s -= time.monotonic() - begun

    @property
    def is_up(self) -> bool:
        """Whether the time is up."""
        return self._left_s <= 0

    def too_long(self) -> QueryError:
        """Say that the time is up."""
        return QueryError(f"the query took more than {self.seconds:g} s; --seconds allows more")

    def too_large(self) -> QueryError:
        """Say that the memory is not enough."""
        return QueryError(
            f"the query takes more than {self.memory_bytes / 2**20:,.0f} MB of memory; name fewer "
            "columns, or allow more with --memory-mb"
        )

    def held(self, table: pa.Table) -> None:
        """Count what is read of the lake. Raises QueryError over a bound."""
        self._held_bytes += table.nbytes
        if self._held_bytes > self.memory_bytes:
            raise self.too_large()
        with self.working():
            pass
        if self.is_up:
            raise self.too_long()
