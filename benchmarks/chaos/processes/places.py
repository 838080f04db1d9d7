"""Places that can be made to fail: a host with a network of its own, and a disk that fills up.

Both need rights that not every machine gives (root, or a container that may). Where they are
missing, `NotPermittedError` says which.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.instruments.processes import wait_for
from nightgrid.workers.cluster.server import server_binary
from nightgrid.workers.processes import end_group, spawn

NOWHERE = "02:00:00:00:00:99"
"""Ethernet address that no machine has: what is sent there vanishes without an error."""


class NotPermittedError(Exception):
    """This machine does not let us make such a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A host beside this one, with one wire between them."""

    name: str
    wire: str
    far_wire: str
    near_address: str
    far_address: str

    @property
    def inside(self) -> Sequence[str]:
        """Name the command that runs another in there."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """Lose every packet, both ways, silently."""
        for prefix, address, wire in self._ends():
            _run(*prefix, "ip", "neigh", "replace", address, "lladdr", NOWHERE, "dev", wire)

    def heal(self) -> None:
        """Let packets through again."""
        for prefix, address, wire in self._ends():
            _run(*prefix, "ip", "neigh", "del", address, "dev", wire)

    def _ends(self) -> Sequence[tuple[Sequence[str], str, str]]:
        near = ((), self.far_address, self.wire)
        return (near, (self.inside, self.near_address, self.far_wire))


@contextmanager
def host_of_its_own() -> Iterator[Network]:
    """Make a network namespace and a wire to it. Raises NotPermittedError."""
    number = os.getpid() % 16_000
    # One of 16,000 networks of four addresses each.
    third, fourth = divmod(4 * number, 256)
    network = Network(
        name=f"nightgrid-{number}",
        wire=f"ng{number}",
        far_wire=f"ng{number}far",
        near_address=f"10.213.{third}.{fourth + 1}",
        far_address=f"10.213.{third}.{fourth + 2}",
    )
    if shutil.which("ip") is None:
        raise NotPermittedError("there is no command `ip` to make network namespaces with")
    try:
        _run("ip", "netns", "add", network.name)
        far = ("peer", "name", network.far_wire, "netns", network.name)
        _run("ip", "link", "add", network.wire, "type", "veth", *far)
        _run("ip", "addr", "add", f"{network.near_address}/30", "dev", network.wire)
        _run("ip", "link", "set", network.wire, "up")
        there = network.inside
        far_end = f"{network.far_address}/30"
        _run(*there, "ip", "addr", "add", far_end, "dev", network.far_wire)
        _run(*there, "ip", "link", "set", network.far_wire, "up")
        _run(*there, "ip", "link", "set", "lo", "up")
        yield network
    finally:
        for command in (
            ("ip", "link", "del", network.wire),
            ("ip", "netns", "del", network.name),
        ):
            with contextlib.suppress(NotPermittedError):
                _run(*command)


@contextmanager
def server_on(addresses: Sequence[str], folder: Path) -> Iterator[int]:
    """Run a server on these addresses of this host, and yield its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    words = ["--port", str(port), "--bind", *addresses, "--save", "", "--dir", str(folder)]
    command = [server_binary(), *words, "--protected-mode", "no", "--daemonize", "no"]
    process = spawn(command, log_path=folder / "server.log")
    try:
        wait_for(lambda: _answers(port), "the server", 20.0)
        yield port
    finally:
        end_group(process)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A small disk."""

    folder: Path

    def fill(self) -> None:
        """Leave not a byte."""
        with contextlib.suppress(OSError), self._ballast().open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        with contextlib.suppress(OSError), self._ballast().open("ab", buffering=0) as file:
            while True:
                file.write(b"\0")

    def free(self) -> None:
        """Release the space."""
        self._ballast().unlink(missing_ok=True)

    def _ballast(self) -> Path:
        return self.folder / "ballast"


@contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[Disk]:
    """Mount a small disk in memory on a folder.

    Raises NotPermittedError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder))
    try:
        yield Disk(folder=folder)
    finally:
        # Processes that were just killed may have files open for a moment yet.
        for _ in range(50):
            try:
                _run("umount", str(folder))
                break
            except NotPermittedError:
                time.sleep(0.1)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotPermittedError(f"{' '.join(command)}: {done.stderr.strip()}")
