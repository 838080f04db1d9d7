"""What a service does again and again beside requests, each time in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress


class Repeated:
    """Calls a function now and then, from `begin` to `end`. An exception does not end it."""

    def __init__(
        self, call: Callable[[], None], pause_s: float, failed: Callable[[Exception], None]
    ) -> None:
        """Call nothing yet. `failed` is told of each exception, in the event loop."""
        self._call, self._pause_s, self._failed = call, pause_s, failed

    def begin(self) -> None:
        """Call at once and after each pause, in the running event loop."""
        self._task = asyncio.create_task(self._call_again())

    async def end(self) -> None:
        """Call no more."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _call_again(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self._call)
            except Exception as error:  # noqa: BLE001 - the next call may succeed
                self._failed(error)
            await asyncio.sleep(self._pause_s)
