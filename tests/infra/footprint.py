"""Memory of each kind of process, without the tables of large boards."""

from __future__ import annotations

MIB = 2**20
MOST_BYTES = {
    "server": 7 * MIB,
    "batch": 505 * MIB,
    "interactive": 414 * MIB,
    "keeper": 251 * MIB,
    "http": 636 * MIB,
    "driver of a count": 356 * MIB,
}
"""Measured at commit 6bade0b0 with four batch processes while 5,000 boards of Pips were counted.
Shared pages of a kind count once."""


def as_bytes(text: str) -> int:
    """Parse a size in the notation of Compose and systemd."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    return int(text[:-1]) * units[text[-1].upper()]
