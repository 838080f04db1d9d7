"""The Compose file fits its schema; the image has what it needs, and what changes seldom first."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
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


def test_one_image_is_built_once_and_kernels_come_before_what_needs_them():
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


def test_dependencies_are_a_layer_before_the_source():
    lines = dockerfile()
    copies = [line.split()[1:-1] for line in lines if re.match(r"COPY (?!--from)", line)]
    assert copies[0] == ["pyproject.toml", "constraints.txt"]
    installs = [number for number, line in enumerate(lines) if "uv pip install" in line]
    first_source = next(n for n, line in enumerate(lines) if line.startswith("COPY archive"))
    assert installs[0] < first_source < installs[1]
    assert "-r pyproject.toml" in lines[installs[0]]
    assert "--no-deps" in lines[installs[1]]
    (extras,) = [line for line in lines if line.startswith("ARG EXTRAS")]
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"[a-z]+", extras.partition("=")[2])) <= set(known)


def test_an_image_is_told_its_version_and_its_extras():
    """Given no .git in an image, Then VERSION says which it is, after what seldom changes."""
    lines = dockerfile()
    copies = [number for number, line in enumerate(lines) if line.startswith("COPY ")]
    first = lines.index('ARG VERSION=""')
    install = next(line for line in lines[first:] if line.startswith("RUN "))
    assert 'SETUPTOOLS_SCM_PRETEND_VERSION_FOR_NIGHTGRID="${VERSION}"' in install
    assert copies[-2] < first, "a new version would build every layer of dependencies again"
    (default,) = [
        line.partition("=")[2].strip('"') for line in lines if line.startswith("ARG EXTRAS")
    ]
    # NIGHTGRID_TRACE_URL is a setting of every deployment.
    assert "trace" in default.split()
    said = compose()["services"]["kernels"]["build"]["args"]
    assert said == {"VERSION": "${VERSION:-}", "EXTRAS": f"${{EXTRAS:-{default}}}"}
    for page in ("containers-and-systemd", "kubernetes"):
        text = (ROOT / f"docs/how-to/{page}.md").read_text()
        assert "VERSION=" in text
        assert f"{default} rank" in text


@pytest.mark.parametrize(
    ("told", "version"), [("0.7.0.dev3", "0.7.0.dev3"), ("", "0.1.0.dev0"), (None, "0.1.0.dev0")]
)
def test_a_folder_without_git_has_the_version_that_it_is_told(
    tmp_path: Path, told: str | None, version: str
):
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    env = {name: value for name, value in os.environ.items() if "SETUPTOOLS" not in name}
    if told is not None:
        env["SETUPTOOLS_SCM_PRETEND_VERSION_FOR_NIGHTGRID"] = told
    command = [sys.executable, "-m", "hatchling", "version"]
    said = subprocess.run(
        command, cwd=tmp_path, env=env, check=True, capture_output=True, text=True
    )
    assert said.stdout.strip() == version


def test_the_models_of_the_image_bring_no_other_framework():
    """Given the extra `rank`, Then uv reads in the copied pyproject.toml what it leaves out."""
    left_out = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    names = {line.split(" ;")[0] for line in left_out["override-dependencies"]}
    assert names == {"llama-cpp-python", "llm", "sentence-transformers"}
    (install,) = [line for line in dockerfile() if "-r pyproject.toml" in line]
    assert "uv pip install" in install


def test_what_is_copied_is_there_and_is_sent_to_the_builder():
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
    """Given what is measured and the budget, Then no service is killed for what it may take."""
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
