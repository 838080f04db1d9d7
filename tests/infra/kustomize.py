"""Build an overlay like `kustomize build`, as far as infra/kubernetes needs it.

resources, components, namespace, images, and patches by JSON Patch (RFC 6902). Anything else in a
kustomization.yaml is refused, so that nothing is silently skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]
KNOWN = {
    "apiVersion",
    "kind",
    "namespace",
    "resources",
    "components",
    "images",
    "patches",
}
CLUSTER_WIDE = {"Namespace"}
PODS = {
    "Deployment": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}


def build(folder: Path, found: list[Object] | None = None) -> list[Object]:
    """Return the objects of an overlay, a base or a component, which changes those `found`."""
    said = _document((folder / "kustomization.yaml").read_text())
    if unknown := set(said) - KNOWN:
        raise ValueError(f"{folder}: {sorted(unknown)}: expected some of {sorted(KNOWN)}")
    objects = [] if found is None else found
    for name in said.get("resources", ()):
        path = folder / name
        if path.is_dir():
            objects += build(path)
        else:
            objects += [one for one in _documents(path.read_text()) if one]
    for name in said.get("components", ()):
        objects = build(folder / name, objects)
    for patch in said.get("patches", ()):
        _patch(objects, patch)
    for one in objects:
        if "namespace" in said and one["kind"] not in CLUSTER_WIDE:
            one["metadata"]["namespace"] = said["namespace"]
        for image in said.get("images", ()):
            _name_image(one, image)
    return objects


def pod_spec(one: Object) -> Object | None:
    """Return the pod that an object creates, if any."""
    if one["kind"] not in PODS:
        return None
    for key in PODS[one["kind"]]:
        one = one[key]
    return one


def containers(one: Object) -> list[Object]:
    """List the containers of an object's pod, in starting order."""
    spec = pod_spec(one) or {}
    return [*spec.get("initContainers", ()), *spec.get("containers", ())]


def _documents(text: str) -> Iterator[Any]:
    # The loader in C, since every process of the tests reads all overlays.
    return yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _document(text: str) -> Any:
    (one,) = _documents(text)
    return one


def _patch(objects: list[Object], patch: Object) -> None:
    target = patch["target"]
    hit = [
        one
        for one in objects
        if one["kind"] == target["kind"]
        and re.fullmatch(target.get("name", ".*"), one["metadata"]["name"])
    ]
    if not hit:
        raise ValueError(f"a patch hits nothing: {target}")
    for one in hit:
        for step in _document(patch["patch"]):
            _step(one, **step)


def _step(place: Any, *, op: str, path: str, value: Any = None) -> None:
    *way, last = path.split("/")[1:]
    for key in way:
        place = place[int(key) if isinstance(place, list) else key]
    if op == "add" and isinstance(place, list):
        assert last == "-", f"{path}: only additions at the end of a list"
        place.append(value)
        return
    if op in ("replace", "remove") and last not in place:
        raise ValueError(f"{op} {path}: it is not there")
    if op == "remove":
        del place[last]
    else:
        place[last] = value


def _name_image(one: Object, image: Object) -> None:
    for container in containers(one):
        if container["image"] == image["name"]:
            container["image"] = f"{image['newName']}:{image['newTag']}"
