"""Lakes on S3-style storage: open one by its URL, and upload whole files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from nightgrid.solvers.errors import PermanentError

CONNECT_TIMEOUT_S = 10.0
REQUEST_TIMEOUT_S = 60.0
_OPTIONS = frozenset({"endpoint_override", "scheme", "region", "anonymous"})


def upload(filesystem: pafs.FileSystem, path: str, fill: Callable[[pa.NativeFile], Any]) -> None:
    """Write what `fill` writes as one object."""
    # The whole file is built before the upload starts: closing an S3 stream completes the
    # object, so a stream that `fill` abandons half-way would publish half a file.
    buffer = pa.BufferOutputStream()
    fill(buffer)
    with filesystem.open_output_stream(path) as stream:
        stream.write(buffer.getvalue())


def upload_spooled(
    filesystem: pafs.FileSystem,
    name: Callable[[], str],
    fill: Callable[[pa.NativeFile], Any],
    taken: Callable[[str], bool],
) -> bool:
    """Write a large file as one object under a name that is asked for once it is filled.

    It is built on the disk and mapped for the one write. A name that is taken is asked for again,
    until it is the same; returns whether one was free.
    """
    with tempfile.TemporaryDirectory(prefix="nightgrid-upload-") as folder:
        spool = str(Path(folder) / "file")
        with pa.OSFile(spool, "wb") as sink:
            fill(sink)
        path = name()
        while taken(path):
            if path == (path := name()):
                return False
        with pa.memory_map(spool) as source, filesystem.open_output_stream(path) as stream:
            stream.write(source.read_buffer())
    return True


def connect(url: str) -> pafs.FileSystem:
    """Open a bucket, or a folder in one, as `nightgrid.archive.lake.storage.Lake.open` describes its URL."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.username is not None or parts.password is not None:
        raise PermanentError(
            "the lake's URL carries credentials; expected them in the environment "
            "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or the AWS files"
        )
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown or not parts.netloc:
        trouble = f"unknown options {', '.join(unknown)}" if unknown else "no bucket"
        raise PermanentError(
            f"lake {url!r} has {trouble}; expected s3://BUCKET/PREFIX, with options "
            f"{', '.join(sorted(_OPTIONS))}"
        )
    endpoint = options.get("endpoint_override", "")
    if "://" in endpoint:
        options["scheme"], _, endpoint = endpoint.partition("://")
    anonymous = options.get("anonymous", "false").lower() == "true"
    arguments: dict[str, Any] = {
        "scheme": options.get("scheme", "https"),
        "connect_timeout": CONNECT_TIMEOUT_S,
        "request_timeout": REQUEST_TIMEOUT_S,
        # Small files become one PUT instead of the three requests of a multipart upload.
        "allow_delayed_open": True,
    }
    if anonymous:
        arguments["anonymous"] = True
    if endpoint:
        arguments["endpoint_override"] = endpoint.rstrip("/")
        arguments["region"] = options.get("region", "us-east-1")
    elif "region" in options:
        arguments["region"] = options["region"]
    root = f"{parts.netloc}/{parts.path.strip('/')}".rstrip("/")
    try:
        return pafs.SubTreeFileSystem(root, pafs.S3FileSystem(**arguments))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise PermanentError(f"lake {url!r} cannot be opened: {error}") from error
