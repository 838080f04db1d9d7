"""Settings of a service: the workers' settings, and where it listens."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, field

from nightgrid.service.http.guard.origins import LOOPBACK_NAMES
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.settings import Settings

HOST = "127.0.0.1"
PORT = 8765
LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Settings of the HTTP service. All times in seconds, sizes in bytes."""

    workers: Settings = field(default_factory=Settings)
    """Those of the workers and the lake: one set for both, so that job ids agree."""
    host: str = HOST
    """Address to listen on; beyond loopback only with keys."""
    port: int = PORT
    """0: any free port."""
    quick_processes: int = 0
    """Processes of the service itself, which solve small boards immediately."""

    @property
    def is_loopback(self) -> bool:
        """Return whether only programs of this machine can reach the service."""
        if self.host == LOCALHOST:
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def address(self) -> tuple[socket.AddressFamily, tuple[str, int]]:
        """Address to bind. Raises PermanentError for an invalid host."""
        try:
            family, *_, found = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
        except (OSError, UnicodeError) as error:
            raise PermanentError(f"--host is {self.host!r:.60}; expected an address") from error
        return family, (str(found[0]), int(found[1]))

    @property
    def wants_keys(self) -> bool:
        """Return whether clients need a key."""
        return self.workers.http_keys or not self.is_loopback

    @property
    def hosts(self) -> frozenset[str] | None:
        """Host names that requests may use; None for any.

        A service on loopback accepts loopback names and its host, unless they are set.
        """
        given = [name.strip("[] ") for name in self.workers.http_hosts.lower().split(",")]
        if any(given):
            return frozenset(filter(None, given))
        return LOOPBACK_NAMES | {self.host.lower()} if self.is_loopback else None
