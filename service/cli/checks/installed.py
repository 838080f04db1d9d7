"""Check Python, the installed packages and the kernels."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from nightgrid.service.cli.checks.finding import Finding, either
from nightgrid.solvers.registry import GAMES, game

SUPPORTED_PYTHONS = ((3, 11), (3, 13))
CONSTRAINTS = Path(__file__).resolve().parents[3] / "constraints.txt"
"""Where the versions stand that the project was tested with: in a checkout, not in a wheel."""
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)")
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")
_OF_ENVIRONMENTS = frozenset({"pip", "setuptools", "wheel"})
"""What Python puts into an environment that it makes, in a version of its own; nothing uses it."""


def check_python() -> Iterator[Finding]:
    """Look whether this Python is one the project runs on."""
    found = platform.python_version()
    least, most = SUPPORTED_PYTHONS
    fits = least <= sys.version_info[:2] <= most
    advice = "use Python 3.11, 3.12 or 3.13: make PYTHON=python3.12"
    yield either("python", fits, found, found, advice)


def check_versions(constraints: Path = CONSTRAINTS) -> Iterator[Finding]:
    """Compare what is installed with what the project was tested with."""
    installed = _installed()
    if not constraints.exists():
        said = f"{len(installed)} packages; no constraints.txt to compare with"
        yield Finding("versions", "ok", said)
        return
    pinned = _PIN.findall(constraints.read_text(encoding="ascii"))
    pins = [(name, pin) for name, pin in pinned if _name(name) not in _OF_ENVIRONMENTS]
    same = 0
    for name, pin in ((_name(name), pin) for name, pin in pins):
        version = installed.get(name, pin)
        same += installed.get(name) == pin
        if version != pin:
            yield Finding(
                "versions",
                "failure" if name in _direct() else "warning",
                f"{name} {version} is installed, {pin} was tested",
                f"pip install {name}=={pin} --constraint constraints.txt",
            )
    if same == sum(_name(name) in installed for name, _ in pins):
        yield Finding("versions", "ok", f"{same} packages as in constraints.txt")


def _installed() -> dict[str, str]:
    found = ((dist.metadata["Name"], dist.version) for dist in metadata.distributions())
    return {_name(name): version for name, version in found if name}


def _direct() -> set[str]:
    """Name the packages that this one asks for itself."""
    try:
        lines = metadata.requires("nightgrid") or []
    except metadata.PackageNotFoundError:
        return set()
    return {_name(match[0]) for line in lines if (match := _REQUIREMENT.match(line))}


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def check_kernels() -> Iterator[Finding]:
    """Compile or load the kernels; they need a folder to be kept in."""
    for name in GAMES:
        trouble = ""
        try:
            game(name).warm()
        except (RuntimeError, OSError, ImportError) as error:
            trouble = f"{name}: {error}"
        ready = f"{name} compiled or loaded, solver {game(name).solver_version}"
        advice = "set NUMBA_CACHE_DIR to a folder that can be written"
        yield either("kernels", not trouble, ready, trouble, advice)


def check_flows() -> Iterator[Finding]:
    """Look whether the nightly job's engine is installed. A machine that only works needs none."""
    version = _installed().get("prefect")
    yield either(
        "nightly",
        version,
        f"Prefect {version}",
        "Prefect is not installed: this machine can work but not run the nightly job",
        "in the folder of the clone: pip install '.[flows]' --constraint constraints.txt",
        "warning",
    )
