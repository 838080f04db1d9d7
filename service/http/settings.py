"""What a service is started with: the workers' settings, and where it listens."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from nightgrid.workers.settings import Settings

HOST = "127.0.0.1"
PORT = 8765
LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Settings of the HTTP service. All times in seconds, sizes in bytes."""

    workers: Settings = field(default_factory=Settings)
    """Those of the workers and of the lake: one set for both, so that ids of jobs agree."""
    host: str = HOST
    """Address to listen on; beyond loopback only with keys."""
    port: int = PORT
    """0: any that is free."""

    @property
    def is_loopback(self) -> bool:
        """Tell whether only programs of this machine can reach the service."""
        if self.host == LOCALHOST:
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
