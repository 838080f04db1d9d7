"""Lakes on S3-style storage: whole files are uploaded, and show when they are complete."""

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


class Bucket:
    """A nightgrid.archive.lake.storage.Storage: a bucket, or a folder in one."""

    is_exclusive = False

    def __init__(self, url: str) -> None:
        """Take s3://BUCKET/PREFIX?OPTIONS. Raises PermanentError for what is none."""
        self.url = url
        self.filesystem = connect(url)

    def commit(
        self,
        path: str | Callable[[], str],
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool,  # noqa: ARG002 - an upload replaces what is there
        durable: bool,  # noqa: ARG002 - nothing is quicker
    ) -> bool:
        """Upload one file. One whose name is asked for at its end is built on the disk."""
        if callable(path):
            return self._upload_spooled(path, fill)
        # The whole file is built before the upload starts: closing an S3 stream completes the
        # object, so a stream that `fill` abandons half-way would publish half a file.
        buffer = pa.BufferOutputStream()
        fill(buffer)
        with self.filesystem.open_output_stream(path) as stream:
            stream.write(buffer.getvalue())
        return True

    def sync_deleted(self, path: str) -> None:
        """Do nothing: what is deleted there is gone."""

    def sweep(self, older_than_s: float) -> int:  # noqa: ARG002
        """Find nothing: a half-written file is never seen."""
        return 0

    def _upload_spooled(
        self, name: Callable[[], str], fill: Callable[[pa.NativeFile], Any]
    ) -> bool:
        """Map a large file for one write; ask again for a name that is taken."""
        with tempfile.TemporaryDirectory(prefix="nightgrid-upload-") as folder:
            spool = str(Path(folder) / "file")
            with pa.OSFile(spool, "wb") as sink:
                fill(sink)
            path = name()
            while self.filesystem.get_file_info(path).type != pafs.FileType.NotFound:
                if path == (path := name()):
                    return False
            with pa.memory_map(spool) as source, self.filesystem.open_output_stream(path) as stream:
                stream.write(source.read_buffer())
        return True


def connect(url: str) -> pafs.FileSystem:
    """Open a bucket, or a folder in one, by a URL as `Lake.open` describes it."""
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
