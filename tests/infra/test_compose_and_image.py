"""The Compose file fits its schema; the image is complete, with rarely changed layers first."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from nightgrid.workers.settings import Settings
from tests.infra.footprint import MOST_BYTES, as_bytes
from tests.infra.kustomize import build, containers

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads(
    (resources.files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json").read_text()
)
ROOMS = ("archive", "flows", "nightgrid", "service", "solvers", "workers")


def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "infra/compose.yaml").read_text())


def dockerfile() -> list[str]:
    text = (ROOT / "infra/Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_compose_fits_its_schema():
    jsonschema.validate(compose(), SCHEMA)


def test_one_image_is_built_once_and_kernels_come_before_their_users():
    services = compose()["services"]
    assert [name for name, said in services.items() if "build" in said] == ["kernels"]
    for name, said in services.items():
        if name == "valkey":
            continue
        assert (said["image"], said["pull_policy"]) == ("nightgrid", "never")
        if name not in ("kernels", "nightly"):
            ended = said["depends_on"]["kernels"]["condition"]
            assert ended == "service_completed_successfully"
        assert said["read_only"]
        assert said["cap_drop"] == ["ALL"]
    assert set(services["nightly"]["depends_on"]) == {"prefect", "worker"}


def test_copied_files_exist_and_are_sent_to_the_builder():
    patterns = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    sent = {line[1:] for line in patterns if line.startswith("!")}
    assert patterns[0] == "*"
    copied = {
        name
        for line in dockerfile()
        if re.match(r"COPY (?!--from)", line)
        for name in line.split()[1:-1]
    }
    assert copied == sent
    assert all((ROOT / name).exists() for name in copied)
    assert copied > set(ROOMS)
    assert not any(fnmatch(name, "**/__pycache__") for name in copied)


def test_all_pods_and_services_run_as_the_user_of_the_image():
    (user,) = [line.split()[1] for line in dockerfile() if line.startswith("USER")]
    number = user.partition(":")[0]
    assert number.isdigit(), "Kubernetes cannot tell that a name is not root's"
    for one in build(ROOT / "infra/kubernetes/overlays/object-storage"):
        for container in containers(one):
            if container["image"].startswith("registry.example/nightgrid"):
                spec = one["spec"].get("jobTemplate", one)["spec"]["template"]["spec"]
                assert str(spec["securityContext"]["runAsUser"]) == number
    for said in compose()["services"].values():
        for folder in said.get("tmpfs", ()):
            assert folder == "/tmp" or folder.endswith(f"uid={number},gid={number}")


def test_memory_of_compose_holds_each_process_and_its_tables():
    """Given the measured footprint and the budget, Then no service is killed within its limits."""
    services, most = compose()["services"], MOST_BYTES
    said = {name: as_bytes(service["mem_limit"]) for name, service in services.items()}
    settings = Settings(
        **{
            name.removeprefix("NIGHTGRID_").lower(): value
            for name, value in compose()["x-settings"].items()
        }
    )
    budget = settings.budget_table_bytes
    processes = settings.batch_processes + settings.interactive_processes
    workers = most["batch"] + most["interactive"] + most["keeper"]
    assert said["worker"] >= workers + processes * budget
    night = most["driver of a count"] + most["batch"] + settings.batch_processes * budget
    assert said["nightly"] >= night
    assert said["http"] >= most["http"] + settings.ondemand_table_bytes
    assert said["valkey"] >= 10 * most["server"]
