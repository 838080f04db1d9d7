"""A lease in the lake: one process holds it at most, on any host, and it ends with its holder.

A lease is a row of files `leases/NAME/00000001.json`, each created once; the highest is the one
that counts. Its holder renews it: it writes `leases/NAME/00000001.beat` over again and again. A
process that wants the lease watches that file by its own clock. While it changes, the holder lives.
When it has not changed for a while, the process creates the next file, which only one process can.
So no clock of one host is ever compared with that of another, and nothing but the creation of a
file has to be exclusive.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import NightgridError, TransientError

RENEW_EVERY_S = 5.0
"""Interval at which a holder renews its lease."""
EXPIRY_S = 30.0
"""A lease expires when one process has seen no renewal for this long."""
POLL_S = 0.2
_NUMBER = re.compile(r"/(\d{8})\.json$")


_held: dict[tuple[str, str], Lease] = {}
"""Leases of this process, by lake and name."""


class LeaseLostError(TransientError):
    """This process was stopped for so long that another has taken its lease."""


@dataclass(slots=True)
class Lease:
    """A lease that this process holds."""

    lake: Lake
    name: str
    number: int
    renewed_at: float
    """When the last renewal was begun, in monotonic seconds."""
    renewals: int = 0

    @property
    def path(self) -> str:
        """The file that names its holder."""
        return f"{folder(self.name)}/{self.number:08d}.json"

    def renew(self) -> None:
        """Show processes that watch the lease that its holder lives."""
        begun = time.monotonic()
        self.renewals += 1
        path = self.path.replace(".json", ".beat")
        write_json(self.lake, path, {"beats": self.renewals}, durable=False)
        self.renewed_at = begun

    def check(self) -> None:
        """Raise LeaseLostError unless this process still holds the lease, before it writes."""
        others = [number for number in numbers(self.lake, self.name) if number > self.number]
        if others or time.monotonic() - self.renewed_at > EXPIRY_S / 2:
            raise LeaseLostError(
                f"this {self.name} stood still and another process may have taken over; nothing is "
                "lost, and the same command goes on"
            )

    def release(self) -> None:
        """Release the lease: a holder that says so need not be watched."""
        with suppress(NightgridError):
            write_json(self.lake, self.path, {"ended": True}, durable=False)
            self.lake.delete(self.path.replace(".json", ".beat"), durable=False)


def check_held(lake: Lake, name: str) -> None:
    """Raise LeaseLostError if this process has lost its lease; do nothing if it holds none."""
    lease = _held.get((lake.url, name))
    if lease is not None:
        lease.check()


def folder(name: str) -> str:
    """Name the folder of a lease."""
    return f"leases/{name}"


def numbers(lake: Lake, name: str) -> list[int]:
    """List the numbers that were taken, in their order."""
    found = filter(None, map(_NUMBER.search, lake.list(folder(name))))
    return sorted(int(match[1]) for match in found)


@contextmanager
def holding(lake: Lake, name: str, refusal: str) -> Iterator[Lease]:
    """Hold a lease while the body runs, and renew it in a thread.

    Raises TransientError with the refusal as soon as another holder has shown that it lives.
    """
    lease = acquire(lake, name, refusal)
    stop = threading.Event()

    def keep() -> None:
        while not stop.wait(RENEW_EVERY_S):
            # A lake that fails for long is noticed by `check`.
            with suppress(NightgridError):
                lease.renew()

    thread = threading.Thread(target=keep, name=f"lease-{name}", daemon=True)
    thread.start()
    _held[lake.url, name] = lease
    try:
        yield lease
    finally:
        del _held[lake.url, name]
        stop.set()
        thread.join()
        lease.release()


def acquire(lake: Lake, name: str, refusal: str) -> Lease:
    """Acquire a lease without a holder, or one that was not renewed for EXPIRY_S.

    Raises TransientError with the refusal while another process holds it.
    """
    while True:
        taken = numbers(lake, name)
        if taken and _is_held(lake, name, taken[-1]):
            raise TransientError(refusal)
        number = taken[-1] + 1 if taken else 1
        lease = Lease(lake=lake, name=name, number=number, renewed_at=time.monotonic())
        holder = canonical_json({"holder": uuid.uuid4().hex})
        if not lake.create_bytes(lease.path, f"{holder}\n".encode("ascii")):
            continue
        # The list may be old: another process may have taken this number and deleted it long ago,
        # which only a second look shows.
        if numbers(lake, name)[-1] != number:
            lake.delete(lease.path, durable=False)
            continue
        lease.renew()
        for old in taken:
            for ending in ("json", "beat"):
                lake.delete(f"{folder(name)}/{old:08d}.{ending}", durable=False)
        return lease


def _is_held(lake: Lake, name: str, number: int) -> bool:
    """Watch a lease until its holder shows that it lives, or has not for EXPIRY_S."""
    path = f"{folder(name)}/{number:08d}"
    begun = time.monotonic()
    first = read_hint(lake, f"{path}.beat", dict)
    while True:
        about = read_hint(lake, f"{path}.json", dict)
        if about is not None and about.get("ended"):
            return False
        if read_hint(lake, f"{path}.beat", dict) != first:
            return True
        if time.monotonic() - begun > EXPIRY_S:
            return False
        time.sleep(POLL_S)
