"""Kubernetes manifests: each fits its schema, and keeps work safe."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import kubernetes_validate
import pytest
import yaml

from nightgrid.workers.settings import STOP_MARGIN_SECONDS, Settings, setting_fields
from tests.infra.keda import DEFINED
from tests.infra.kustomize import Object, build, containers, pod_spec

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "infra/kubernetes"
OVERLAYS = sorted(path.parent.name for path in FOLDER.glob("overlays/*/kustomization.yaml"))
VERSION = "1.32"
"""The oldest supported version, which would refuse later fields."""


TRACED = "traced"
"""Not a folder: the overlay `object-storage` with the component `tracing`."""
ALL = (*OVERLAYS, TRACED)


@contextmanager
def overlay_folder(overlay: str) -> Iterator[Path]:
    """Yield the folder of an overlay. kustomize reads no base by an absolute path."""
    if overlay != TRACED:
        yield FOLDER / "overlays" / overlay
        return
    with TemporaryDirectory() as made:
        folder = Path(made).resolve()
        above = os.path.relpath(FOLDER, folder)
        said = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [f"{above}/overlays/object-storage"],
            "components": [f"{above}/components/tracing"],
        }
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(said))
        yield folder


@cache
def _built(overlay: str) -> str:
    with overlay_folder(overlay) as folder:
        return json.dumps(build(folder))


def built(overlay: str) -> list[Object]:
    return json.loads(_built(overlay))


def everything() -> list[Any]:
    return [
        pytest.param(one, id=f"{overlay}-{one['kind']}-{one['metadata']['name']}")
        for overlay in ALL
        for one in built(overlay)
    ]


def pods() -> list[Any]:
    return [one for one in everything() if pod_spec(one.values[0])]


def test_every_file_is_in_an_overlay():
    named = set()
    for path in FOLDER.rglob("kustomization.yaml"):
        said = yaml.safe_load(path.read_text())
        named |= {path.parent / name for name in (*said.get("resources", ()), "kustomization.yaml")}
    assert set(FOLDER.rglob("*.yaml")) <= named


@pytest.mark.parametrize("overlay", ALL)
def test_our_build_equals_that_of_kustomize(overlay: str):
    """Given kubectl, Then it builds the same. CI has it; elsewhere it may be missing."""
    kubectl = os.environ.get("KUBECTL") or shutil.which("kubectl")
    if kubectl is None:
        reason = "no kubectl: install it, or name its program in KUBECTL"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with overlay_folder(overlay) as folder:
        done = subprocess.run(
            [kubectl, "kustomize", folder], check=True, capture_output=True, text=True
        )

    def by_name(objects: Any) -> dict[tuple[str, str], Object]:
        return {(one["kind"], one["metadata"]["name"]): one for one in objects}

    assert by_name(built(overlay)) == by_name(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize("one", everything())
def test_every_object_fits_its_schema(one: Object):
    if one["kind"] in DEFINED:
        jsonschema.validate(one, DEFINED[one["kind"]])
    else:
        kubernetes_validate.validate(one, VERSION, strict=True)


@pytest.mark.parametrize("one", pods())
def test_every_pod_is_closed(one: Object):
    """Non-root, a root that cannot be written, no capabilities, no token of the cluster."""
    spec = pod_spec(one)
    assert spec
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    for container in containers(one):
        closed = container["securityContext"]
        assert closed["readOnlyRootFilesystem"]
        assert closed["allowPrivilegeEscalation"] is False
        assert closed["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        claimed = one["spec"].get("volumeClaimTemplates", ())
        assert mounted <= {
            *(volume["name"] for volume in spec["volumes"]),
            *(claim["metadata"]["name"] for claim in claimed),
        }


@pytest.mark.parametrize("one", pods())
def test_references_of_pods_exist(one: Object):
    """ConfigMaps, claims and services are of the overlay; secrets are named in the how-to page."""
    page = (ROOT / "docs/how-to/kubernetes.md").read_text()
    text = json.dumps(pod_spec(one))
    overlay = next(o for o in ALL if one in built(o))
    have = {(other["kind"], other["metadata"]["name"]) for other in built(overlay)}
    for name in re.findall(r'"configMapRef": {"name": "([^"]+)"', text):
        assert ("ConfigMap", name) in have
    for name in re.findall(r'"claimName": "([^"]+)"', text):
        assert ("PersistentVolumeClaim", name) in have
    for name in re.findall(r'"(?:secretRef|secretKeyRef)": {[^}]*"name": "([^"]+)"', text):
        assert f"secret generic {name}" in page


@pytest.mark.parametrize("one", pods())
def test_long_running_pods_are_probed_and_have_time_to_hand_back(one: Object):
    spec = pod_spec(one)
    assert spec
    settings = next(o for o in built(OVERLAYS[0]) if o["kind"] == "ConfigMap")["data"]
    for container in spec["containers"]:
        if one["kind"] == "CronJob":
            continue
        probes = {"startupProbe", "livenessProbe", "readinessProbe"}
        if container["name"] == "nights":
            # Ready while Prefect answers; without Prefect a night in progress continues.
            probes = {"readinessProbe"}
        assert probes == {name for name in container if name.endswith("Probe")}
        if container["name"] in ("batch", "interactive", "keeper"):
            stop_s = int(settings["NIGHTGRID_SOFT_SHUTDOWN_SECONDS"]) + STOP_MARGIN_SECONDS
            assert stop_s < spec["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("overlay", ALL)
def test_selectors_meet_pods(overlay: str):
    """Services, budgets and policies select existing pods; no two deployments share them."""
    objects = built(overlay)
    parts = [
        one["spec"].get("jobTemplate", one)["spec"]["template"]["metadata"]["labels"]
        for one in objects
        if pod_spec(one)
    ]
    assert len({part["app.kubernetes.io/component"] for part in parts}) == len(parts)
    for one in objects:
        spec = one.get("spec", {})
        if one["kind"] == "Service":
            wanted = spec["selector"]
        elif one["kind"] == "PodDisruptionBudget":
            wanted = spec["selector"]["matchLabels"]
        elif one["kind"] == "NetworkPolicy":
            wanted = spec["podSelector"].get("matchLabels", {})
        else:
            continue
        assert any(wanted.items() <= part.items() for part in parts), one["metadata"]["name"]
    names = {one["metadata"]["name"] for one in objects if one["kind"] == "Deployment"}
    for one in objects:
        if one["kind"] == "ScaledObject":
            assert one["spec"]["scaleTargetRef"]["name"] in names
            scaled = next(
                o
                for o in objects
                if o["kind"] == "Deployment"
                and o["metadata"]["name"] == one["spec"]["scaleTargetRef"]["name"]
            )
            assert "replicas" not in scaled["spec"], "two would say how many there are"


def test_settings_are_settings():
    known = {f"NIGHTGRID_{name.upper()}" for name in setting_fields()}
    for overlay in ALL:
        for one in built(overlay):
            said = {}
            if one["kind"] == "ConfigMap":
                said = one["data"]
            for container in containers(one):
                said |= {each["name"]: each.get("value") for each in container.get("env", ())}
            ours = {name: value for name, value in said.items() if name.startswith("NIGHTGRID_")}
            assert set(ours) <= known
            given = {name.removeprefix("NIGHTGRID_").lower(): v for name, v in ours.items() if v}
            Settings(**given)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_memory_holds_the_tables_of_every_process(overlay: str):
    """Given the budget of a process, Then a pod's limit is their sum plus 512 MiB."""
    objects = built(overlay)
    settings = next(one for one in objects if one["metadata"]["name"] == "nightgrid-settings")
    budget = int(settings["data"]["NIGHTGRID_BUDGET_TABLE_BYTES"])
    for name, processes in (
        ("batch", int(settings["data"]["NIGHTGRID_BATCH_PROCESSES"])),
        ("interactive", int(settings["data"]["NIGHTGRID_INTERACTIVE_PROCESSES"])),
        ("nightly", 1),
    ):
        one = next(
            o for o in objects if o["metadata"]["name"] == f"nightgrid-{name}" and pod_spec(o)
        )
        limit = containers(one)[-1]["resources"]["limits"]["memory"]
        assert int(limit.removesuffix("Gi")) * 2**30 >= processes * budget + 2**29


def test_traces_have_a_way_to_the_collector():
    """Given the component `tracing`, Then pods have the collector's URL and may reach it."""
    objects = built(TRACED)
    settings = next(one for one in objects if one["metadata"]["name"] == "nightgrid-settings")
    address = urlsplit(settings["data"]["NIGHTGRID_TRACE_URL"])
    policy = next(one for one in objects if one["metadata"]["name"] == "nightgrid-to-collector")
    (rule,) = policy["spec"]["egress"]
    assert [port["port"] for port in rule["ports"]] == [address.port]
    (to,) = rule["to"]
    _, namespace, _ = str(address.hostname).split(".")
    assert set(to["namespaceSelector"]["matchLabels"].values()) == {namespace}
    (expression,) = policy["spec"]["podSelector"]["matchExpressions"]
    assert expression["operator"] == "NotIn"
    # Each pod with the settings sends spans.
    making = {
        one["metadata"]["labels"]["app.kubernetes.io/component"]
        for one in objects
        if pod_spec(one) and "nightgrid-settings" in json.dumps(one)
    }
    assert making
    assert not making & set(expression["values"])
