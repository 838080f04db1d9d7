"""A lease in the lake: at most one process on any host holds it, and it expires with its holder.

A lease is a sequence of files `leases/NAME/00000001.json`, each created once; the highest is
current. Its holder renews it by rewriting `leases/NAME/00000001.beat`. A process that wants the
lease watches that file by its own clock. While it changes, the holder is alive. Once it has not
changed for EXPIRY_S, the process creates the next file, which only one process can do. So no clock
of one host is ever compared with that of another, and only the creation of a file has to be
exclusive.
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
    """Another process has taken this process's lease while it was suspended."""


@dataclass(slots=True)
class Lease:
    """A lease that this process holds."""

    lake: Lake
    name: str
    number: int
    renewed_at: float
    """Start of the last renewal, in monotonic seconds."""
    renewals: int = 0

    @property
    def path(self) -> str:
        """The file that names the holder."""
        return f"{folder(self.name)}/{self.number:08d}.json"

    def renew(self) -> None:
        """Rewrite the beat file, so that waiting processes see that the holder is alive."""
        begun = time.monotonic()
        self.renewals += 1
        path = self.path.replace(".json", ".beat")
        write_json(self.lake, path, {"beats": self.renewals}, durable=False)
        self.renewed_at = begun

    def check(self) -> None:
        """Raise LeaseLostError if this process has lost the lease; call it before writing."""
        others = [number for number in numbers(self.lake, self.name) if number > self.number]
        if others or time.monotonic() - self.renewed_at > EXPIRY_S / 2:
            raise LeaseLostError(
                f"this {self.name} was suspended and another process may have taken over; "
                "nothing is lost, and the same command continues"
            )

    def release(self) -> None:
        """Release the lease, so that the next process need not wait for it to expire."""
        with suppress(NightgridError):
            write_json(self.lake, self.path, {"ended": True}, durable=False)
            self.lake.delete(self.path.replace(".json", ".beat"), durable=False)


def check_held(lake: Lake, name: str) -> None:
    """Raise LeaseLostError if this process has lost its lease; do nothing if it holds none."""
    lease = _held.get((lake.url, name))
    if lease is not None:
        lease.check()


def folder(name: str) -> str:
    """Return the folder of a lease."""
    return f"leases/{name}"


def numbers(lake: Lake, name: str) -> list[int]:
    """List the numbers taken so far, in order."""
    found = filter(None, map(_NUMBER.search, lake.list(folder(name))))
    return sorted(int(match[1]) for match in found)


@contextmanager
def holding(lake: Lake, name: str, refusal: str) -> Iterator[Lease]:
    """Hold a lease while the body runs; a thread renews it.

    Raises TransientError(refusal) as soon as another holder proves to be alive.
    """
    lease = acquire(lake, name, refusal)
    stop = threading.Event()

    def keep() -> None:
        while not stop.wait(RENEW_EVERY_S):
            # `check` notices a lake that fails for long.
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
    """Acquire a lease that is free or was not renewed for EXPIRY_S.

    Raises TransientError(refusal) while another process holds it.
    """
    while True:
        taken = numbers(lake, name)
        if taken and _is_held(lake, name, taken[-1]):
            raise TransientError(refusal)
        number = taken[-1] + 1 if taken else 1
        lease = Lease(lake=lake, name=name, number=number, renewed_at=time.monotonic())
        holder = canonical_json({"holder": uuid.uuid4().hex})
        if not lake.write_bytes(lease.path, f"{holder}\n".encode("ascii"), new=True):
            continue
        # The list may be stale: another process may have taken this number and deleted it long ago;
        # only listing again shows that.
        if numbers(lake, name)[-1] != number:
            lake.delete(lease.path, durable=False)
            continue
        lease.renew()
        for old in taken:
            for ending in ("json", "beat"):
                lake.delete(f"{folder(name)}/{old:08d}.{ending}", durable=False)
        return lease


def _is_held(lake: Lake, name: str, number: int) -> bool:
    """Watch a lease until its holder renews it (True) or EXPIRY_S has passed (False)."""
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
