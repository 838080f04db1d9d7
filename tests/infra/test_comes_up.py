"""Every command of Kubernetes and Compose files comes up, is ready by its own probe, and stops.

Each is started with its own environment and folders, as its own user, with a root that cannot be
written (tests/infra/contained.py); images are what this environment has installed.
"""

from __future__ import annotations

import json
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
from tests.infra.kustomize import Object, build, containers, pod_spec

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

COMPOSE = ROOT / "infra/compose.yaml"
SERVER_USER = 999
PASSWORD = "correct horse"
SECRETS = {
    "nightgrid-server": {
        "url": "redis://:correct%20horse@nightgrid-server:6379/0",
        "password": PASSWORD,
        "server.conf": f'requirepass "{PASSWORD}"\n',
    }
}
NAMES = ("nightgrid-server", "nightgrid-http", "nightgrid-prefect", "valkey", "prefect")
CLIENT = f"""#!{sys.executable}
import os, redis
print(redis.Redis(password=os.environ.get("REDISCLI_AUTH")).ping() and "PONG")
"""
"""Stands for valkey-cli, which comes with the server's image alone."""


def image_environment() -> dict[str, str]:
    """Read what the Dockerfile sets, but for PATH, which is this environment's."""
    text = (ROOT / "infra/Dockerfile").read_text().replace("\\\n", " ")
    (line,) = re.findall(r"^ENV (.*)$", text, re.MULTILINE)
    said = dict(word.split("=", 1) for word in shlex.split(line))
    del said["PATH"]
    return {**said, "HOME": "/var/nightgrid"}


@dataclass(slots=True, kw_only=True)
class Place:
    """A host and what its containers share."""

    host: Host
    volumes: dict[str, Path] = field(default_factory=dict)

    def volume(self, name: str, user: int = USER) -> Path:
        """Return the folder of a volume that is there once."""
        if name not in self.volumes:
            path = self.host.folder / f"volume-{name}"
            path.mkdir()
            os.chown(path, user, user)
            self.volumes[name] = path
        return self.volumes[name]


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


# Kubernetes


class Cluster:
    """What an overlay makes, on one host."""

    def __init__(self, place: Place, objects: list[Object]) -> None:
        self.place = place
        self.objects = objects
        self.maps = {o["metadata"]["name"]: o["data"] for o in objects if o["kind"] == "ConfigMap"}

    def pod(self, name: str) -> tuple[Object, Object]:
        """Find what makes a pod, and its pod."""
        one = next(
            o for o in self.objects if pod_spec(o) and o["metadata"]["name"] == f"nightgrid-{name}"
        )
        return one, pod_spec(one) or {}

    def environment(self, container: Object) -> dict[str, str]:
        """Write what a kubelet gives a container."""
        found = image_environment() if "valkey" not in container["image"] else {}
        for source in container.get("envFrom", ()):
            if "configMapRef" in source:
                found |= self.maps[source["configMapRef"]["name"]]
        for one in container.get("env", ()):
            found[one["name"]] = str(one.get("value", ""))
            if "valueFrom" in one:
                ref = one["valueFrom"]["secretKeyRef"]
                found[one["name"]] = SECRETS[ref["name"]][ref["key"]]
        return found

    def start(self, name: str, index: int = -1, more: tuple[str, ...] = ()) -> Container:
        """Start a container of a pod, `more` in the place of its arguments."""
        one, spec = self.pod(name)
        container = containers(one)[index]
        env = self.environment(container)
        words = [*container["command"], *(more or container.get("args", ()))]
        words = [re.sub(r"\$\((\w+)\)", lambda m: env[m[1]], word) for word in words]
        user = spec["securityContext"]["runAsUser"]
        kinds = {volume["name"]: volume for volume in spec["volumes"]}
        own, volumes = [], {}
        for mount in container["volumeMounts"]:
            volume = kinds.get(mount["name"], {})
            there = mount["mountPath"]
            if "secret" in volume:
                folder = self.place.volume(f"{name}-{mount['name']}", user)
                for item in volume["secret"]["items"]:
                    text = SECRETS[volume["secret"]["secretName"]][item["key"]]
                    (folder / item["path"]).write_text(text)
                volumes[folder] = there
            elif "emptyDir" in volume and mount["name"] != "cache":
                own.append(there)
            else:
                volumes[self.place.volume(mount["name"], user)] = there
        work = "/var/nightgrid" if user == USER else "/data"
        return start(
            self.place, name, words, env, own=sorted(own), volumes=volumes, user=user, work=work
        )

    def wait_ready(self, name: str, container: Container) -> None:
        """Wait until each probe of a container passes."""
        about = containers(self.pod(name)[0])[-1]
        ports = {port["name"]: port["containerPort"] for port in about.get("ports", ())}
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            probe = about.get(kind)
            if probe is None:
                continue  # tests/infra/test_kubernetes.py says which have all three

            def passes(probe: Object = probe) -> bool:
                if "exec" in probe:
                    done = self.place.host.run(container, probe["exec"]["command"])
                    return done.returncode == 0
                get = probe["httpGet"]
                url = f"http://127.0.0.1:{ports[get['port']]}{get['path']}"
                return self.place.host.fetch(url)[0] == 200

            wait_until(container, passes, f"{kind} of {name}")

    def run_to_end(self, name: str, index: int = -1, more: tuple[str, ...] = ()) -> Container:
        """Run a container until it ends by itself."""
        container = self.start(name, index, more)
        container.process.wait(UP_S)
        return container


@pytest.fixture
def objects() -> list[Object]:
    return build(ROOT / "infra/kubernetes/overlays/shared-folder")


@pytest.mark.long(reason="it starts all of a deployment; each command has tests of its own")
def test_every_pod_of_kubernetes_comes_up_and_stops(place: Place, objects: list[Object]):
    cluster = Cluster(place, objects)
    payloads = place.volume("payloads")
    shutil.copytree(ROOT / "service/sample/pips", payloads / "pips")

    server = cluster.start("server")
    cluster.wait_ready("server", server)
    warmed = cluster.run_to_end("batch", 0)
    assert warmed.process.returncode == 0, warmed.said()
    refused = cluster.run_to_end("http")
    assert (refused.process.returncode, "nightgrid keys add" in refused.said()) == (3, True), (
        refused.said()
    )
    added = cluster.run_to_end("keeper", more=("keys", "add", "keda", "--json"))
    assert added.process.returncode == 0, added.said()
    key = json.loads(added.said())["key"]

    names = ("batch", "interactive", "keeper", "http", "prefect")
    running = {name: cluster.start(name) for name in names}
    for name, container in running.items():
        cluster.wait_ready(name, container)
    running["nights"] = cluster.start("nights")
    cluster.wait_ready("nights", running["nights"])

    night = cluster.run_to_end("nightly")
    assert night.process.returncode == 0, night.said()
    report = json.loads(night.said().splitlines()[-1])
    assert report["game"] == "pips"

    for one in objects:
        if one["kind"] == "ScaledObject":
            for trigger in one["spec"]["triggers"]:
                assert value_of(place, trigger["metadata"], key) == 0

    url = "http://127.0.0.1:4200/api/deployments/name/nightly/nightly"
    wait_until(running["nights"], lambda: place.host.fetch(url)[0] == 200, "the schedule")
    for name in reversed(running):
        stopped(running[name], cluster.pod(name)[1]["terminationGracePeriodSeconds"])
    stopped(server, cluster.pod("server")[1]["terminationGracePeriodSeconds"])


def value_of(place: Place, metadata: Mapping[str, str], key: str) -> float:
    """Read what KEDA's scaler metrics-api would."""
    url = metadata["url"].replace("nightgrid-http.nightgrid.svc", "127.0.0.1")
    code, body = place.host.fetch(url, key)
    assert code == 200, body
    where = metadata["valueLocation"]
    if metadata.get("format") == "prometheus":
        (line,) = [line for line in body.splitlines() if line.startswith(where)]
        return float(line.removeprefix(where))
    value = json.loads(body)
    for name in where.split("."):
        value = value[name]
    return float(value)


# Compose


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
    wait_until(running["nightly"], lambda: place.host.fetch(url)[0] == 200, "the schedule")
    assert {*running, "kernels"} == set(services)
    for container in reversed(running.values()):
        stopped(container, 45)


def test_compose_refuses_a_source_that_is_missing(place: Place):
    """Given a folder that is not there, Then the schedule does not begin, and says why."""
    service = yaml.safe_load(COMPOSE.read_text())["services"]["nightly"]
    (bound,) = [said for said in service["volumes"] if isinstance(said, dict)]
    assert bound["bind"] == {"create_host_path": False}
    assert re.match(r"\$\{PAYLOADS:\?.+\}$", bound["source"])
    env = {**image_environment(), **service["environment"]}
    container = start(place, "nightly", compose_command("nightly", service), env)
    assert container.process.wait(UP_S) == 3, container.said()
    assert "/payloads" in container.said().splitlines()[-1]
