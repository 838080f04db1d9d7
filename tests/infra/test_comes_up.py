"""Every command of the Compose file starts, becomes ready by its own probe, and stops.

Each is started with its own environment and folders, as its own user, with a root that cannot be
written (tests/infra/contained.py); images are what this environment has installed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from nightgrid.solvers import kernel, warming
from nightgrid.solvers.kernel.compiling import SourceCacheLocator, cache_dir
from nightgrid.solvers.registry import GAMES, game
from nightgrid.workers.cluster.server import server_binary
from tests.infra.contained import (
    ROOT,
    UP_S,
    USER,
    Container,
    Host,
    host,
    let_in,
    stopped,
    wait_until,
)
from tests.infra.kustomize import Object

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

COMPOSE = ROOT / "infra/compose.yaml"
SERVER_USER = 999
NAMES = ("nightgrid-server", "nightgrid-http", "nightgrid-prefect", "valkey", "prefect")
CLIENT = f"""#!{sys.executable}
import os, redis
print(redis.Redis(password=os.environ.get("REDISCLI_AUTH")).ping() and "PONG")
"""
"""Replaces valkey-cli, which only the server's image has."""


def image_environment() -> dict[str, str]:
    """Read the variables of the Dockerfile except PATH, which is this environment's."""
    text = (ROOT / "infra/Dockerfile").read_text().replace("\\\n", " ")
    (line,) = re.findall(r"^ENV (.*)$", text, re.MULTILINE)
    said = dict(word.split("=", 1) for word in shlex.split(line))
    del said["PATH"]
    return {**said, "HOME": "/var/nightgrid"}


@dataclass(slots=True, kw_only=True)
class Place:
    """A host and the shared volumes of its containers."""

    host: Host
    volumes: dict[str, Path] = field(default_factory=dict)

    def volume(self, name: str, user: int = USER) -> Path:
        """Return the folder of a shared volume."""
        if name not in self.volumes:
            path = self.host.folder / f"volume-{name}"
            path.mkdir()
            os.chown(path, user, user)
            self.volumes[name] = path
        return self.volumes[name]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the kernels of this machine's processor, as `nightgrid warmup` leaves it."""
    folder = tmp_path_factory.mktemp("cache")
    copy_kernels(folder)
    let_in(folder)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, USER, USER) if os.getuid() == 0 else None
    return folder


def copy_kernels(cache_home: Path) -> None:
    """Fill a folder for XDG_CACHE_HOME as `nightgrid warmup` leaves it."""
    for name in GAMES:
        game(name).warm()
        assert warming.warm(name) >= 0
    source, target = cache_dir(), cache_home / "nightgrid" / "kernels"
    target.mkdir(parents=True, exist_ok=True)
    solvers = Path(kernel.__file__).resolve().parents[1]
    names = {SourceCacheLocator.get_suitable_cache_subpath(str(p)) for p in solvers.rglob("*.py")}
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
    for mark in source.glob("*.compiled"):
        shutil.copy2(mark, target)


@pytest.fixture
def place(tmp_path: Path, kernels: Path) -> Iterator[Place]:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/valkey-server").symlink_to(server_binary())
    (tmp_path / "bin/valkey-cli").write_text(CLIENT)
    (tmp_path / "bin/valkey-cli").chmod(0o755)
    let_in(tmp_path)
    with host(tmp_path, NAMES) as made:
        yield Place(host=made, volumes={"kernels": kernels, "cache": kernels})


def start(place: Place, name: str, command: list[str], env: Mapping[str, str], **more: Any) -> Any:
    """Start a program that may call the server's own programs."""
    path = f"{sys.prefix}/bin:/opt/server:/usr/bin:/bin"
    volumes = {place.host.folder / "bin": "/opt/server", **more.pop("volumes", {})}
    return place.host.start(name, command, {**env, "PATH": path}, volumes=volumes, **more)


def compose_command(name: str, service: Object) -> list[str]:
    """Write the command line of a service: entry point of the file or of the image, and words."""
    entry = service.get("entrypoint", [] if name == "valkey" else ["nightgrid"])
    words = [*entry, *service.get("command", ())]
    return [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word) for word in words]


@pytest.mark.long(reason="it starts all of a deployment; each command has tests of its own")
def test_every_service_of_compose_comes_up_and_stops(place: Place, tmp_path: Path):
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    place.volumes["payloads"] = ROOT / "service/sample/pips"

    def begin(name: str, more: tuple[str, ...] = ()) -> Container:
        service = services[name]
        user = SERVER_USER if name == "valkey" else USER
        env = {} if name == "valkey" else image_environment()
        volumes = {}
        for said in service.get("volumes", ()):
            if isinstance(said, str):
                source, there = said.split(":")
                volumes[place.volume(source, user)] = there
            else:
                volumes[place.volumes["payloads"]] = said["target"]
        own = [said.split(":")[0] for said in service.get("tmpfs", ())]
        command = ["nightgrid", *more] if more else compose_command(name, service)
        return start(
            place,
            name,
            command,
            {**env, **service.get("environment", {})},
            own=own,
            volumes=volumes,
            user=user,
            work="/data" if name == "valkey" else "/var/nightgrid",
        )

    def is_healthy(container: Container, test: list[str]) -> bool:
        assert test[0] == "CMD"
        return place.host.run(container, test[1:]).returncode == 0

    running: dict[str, Container] = {}
    added = begin("http", ("keys", "add", "me"))
    added.process.wait(UP_S)
    assert added.process.returncode == 0, added.said()
    ended = begin("kernels")
    for name in ("valkey", "worker", "http", "prefect"):
        running[name] = begin(name)
    assert ended.process.wait(UP_S) == 0, ended.said()
    for name, container in running.items():
        test = services[name]["healthcheck"]["test"]
        wait_until(container, lambda c=container, t=test: is_healthy(c, t), f"health of {name}")
    running["nightly"] = begin("nightly")
    test = services["nightly"]["healthcheck"]["test"]
    wait_until(running["nightly"], lambda: is_healthy(running["nightly"], test), "its health")
    url = "http://127.0.0.1:4200/api/deployments/name/nightly/nightly"
    wait_until(running["nightly"], lambda: place.host.fetch(url) == 200, "the schedule")
    assert {*running, "kernels"} == set(services)
    for container in reversed(running.values()):
        stopped(container, 45)


def test_compose_refuses_a_source_that_is_missing(place: Place):
    """Given a missing folder, Then the schedule does not start, and says why."""
    service = yaml.safe_load(COMPOSE.read_text())["services"]["nightly"]
    (bound,) = [said for said in service["volumes"] if isinstance(said, dict)]
    assert bound["bind"] == {"create_host_path": False}
    assert re.match(r"\$\{PAYLOADS:\?.+\}$", bound["source"])
    env = {**image_environment(), **service["environment"]}
    container = start(place, "nightly", compose_command("nightly", service), env)
    assert container.process.wait(UP_S) == 3, container.said()
    assert "/payloads" in container.said().splitlines()[-1]
