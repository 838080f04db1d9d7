"""Idle processes that lend their core to a job on the same machine, as Redis knows of them.

The job's process works with threads. Each process that lends its core does nothing meanwhile, so
that the job's threads and the processes at work are together as many as there are cores for them.
Losing any of it costs time and changes nothing in the answer.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings

KEPT_SECONDS = 900
"""Longer than any task may run."""
LOOK_SECONDS = 0.02
"""How often a process that lends its core looks whether it is given back."""
AWAIT_SECONDS = 0.0005
"""How often a process that waits for cores looks whether they are lent."""


def machine_id() -> str:
    """Name the machine, or the container, in which process ids mean what they mean here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return platform.node()


def is_alive(process: int) -> bool:
    """Tell whether a process of this machine lives."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@dataclass(frozen=True, slots=True)
class Loan:
    """The cores that one job asks for, as its process and those that lend see them."""

    client: redis.Redis
    key: str
    asked: int = 0
    """How many processes are asked for their cores."""

    @classmethod
    def of(cls, client: redis.Redis, settings: Settings, token: str, asked: int = 0) -> Loan:
        """Name the loan of a token, for which so many processes are asked."""
        return cls(client, f"{key_prefix(settings)}loan:{token}", asked)

    @property
    def _lent(self) -> str:
        return f"{self.key}:lent"

    def open(self) -> None:
        """Ask for cores. Raises RedisError."""
        self.client.set(self.key, os.getpid(), ex=KEPT_SECONDS)

    def lenders(self, wait_s: float = 0.0) -> list[str]:
        """Tell which workers lend a core, once for each process. Raises RedisError.

        Those that are asked are waited for, but no longer than `wait_s` seconds.
        """
        until = time.monotonic() + wait_s
        while True:
            lent: Any = self.client.lrange(self._lent, 0, -1)
            if len(lent) >= self.asked or time.monotonic() >= until:
                return [name.decode() if isinstance(name, bytes) else str(name) for name in lent]
            time.sleep(AWAIT_SECONDS)

    def close(self) -> None:
        """Give every core back. Raises RedisError."""
        self.client.delete(self.key, self._lent)

    def lend(self, worker: str, borrower: int) -> bool:
        """Do nothing until the core is given back; tell whether it was wanted. Raises RedisError.

        `borrower` is the process that works the job.
        """
        if not self.client.exists(self.key) or not is_alive(borrower):
            return False
        pipe = self.client.pipeline()
        pipe.rpush(self._lent, worker)
        pipe.expire(self._lent, KEPT_SECONDS)
        pipe.execute()
        while self.client.exists(self.key) and is_alive(borrower):
            time.sleep(LOOK_SECONDS)
        return True
