"""The side folder of a lake: where the embedded server, logs and locks lie, beside the lake."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

SOCKET_PATH_BYTES = 100
"""Longest path of a unix socket that every platform takes (macOS: 104, Linux: 108)."""


def side_folder(lake: str) -> Path:
    """Name the side folder of a lake for which no other one is set; it is never part of the lake.

    It is beside a local lake, where the folder really lies: two paths to one lake, of which one is
    a link, share a server. A lake in an object store has one in the current folder, named by its
    URL without options.
    """
    scheme, is_url, _ = lake.partition("://")
    if not is_url or scheme == "file":
        folder = Path(unquote(urlsplit(lake).path) if is_url else lake)
        real = Path(os.path.realpath(folder))
        return real.parent / "var" / real.name
    name = hashlib.sha256(lake.split("?", maxsplit=1)[0].encode()).hexdigest()[:12]
    return Path.cwd() / "var" / name


def socket_path(folder: Path) -> Path:
    """Name the unix socket of the embedded server: in a side folder, unless its path is too long.

    Else it is in a folder of its own in the system's folder for temporary files.
    """
    path = folder / "server" / "server.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"nightgrid-{os.getuid()}-{name}" / "server.sock"
