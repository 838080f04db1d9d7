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
    """How much a query may take. Its time runs from here until its last row is written."""

    seconds: float = SECONDS
    memory_bytes: int = MEMORY_BYTES
    """Bytes of DuckDB, and as many of what is read of the lake."""
    _deadline: float = field(init=False)
    _held_bytes: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.seconds

    @contextmanager
    def interrupting(self, base: Any) -> Iterator[None]:
        """Interrupt a DuckDB connection within, once the time is up."""
        timer = threading.Timer(max(0.0, self._deadline - time.monotonic()), base.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            # It holds `base`, and a process that ends meanwhile would warn of a leak.
            timer.join()

    @property
    def is_up(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._deadline

    def check_time(self) -> None:
        """Raise QueryError once the time is up."""
        if self.is_up:
            raise self.too_long()

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
        self.check_time()
