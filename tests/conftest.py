"""What every test may use: a printed seed, and the folder of real published payloads."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_ARCHIVE = ROOT.parent / "shared" / "puzzles"
WORKERS_GROUP, NIGHTS_GROUP = WAITING_GROUPS = ("clusters of workers", "clusters of nights")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose one seed for hypothesis and for `seed`, so that one number repeats the run."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say which tests one process runs when several share them.

    A file stays together, for its fixtures. Those that start servers and workers mostly wait, and
    have time limits: they come first, and only as many at a time as there are groups of them.
    """
    # What the processes that share tests are told: there `dist` is "no" again.
    if not getattr(config.option, "loadgroup", False):
        return
    groups = {item: _group(item) for item in items}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: groups[item] not in WAITING_GROUPS)


def _group(item: pytest.Item) -> str:
    place = item.path.relative_to(ROOT / "tests")
    if item.get_closest_marker("cluster") is None and item.get_closest_marker("prefect") is None:
        return place.as_posix()
    return WORKERS_GROUP if place.parts[0] == "workers" else NIGHTS_GROUP


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [
        f"seed: {config.option.hypothesis_seed} (make test SEED={config.option.hypothesis_seed})",
        f"archive: {archive_folder()}{'' if archive_folder().is_dir() else ' (absent)'}",
    ]


def archive_folder() -> Path:
    return Path(os.environ.get("NIGHTGRID_ARCHIVE") or DEFAULT_ARCHIVE).resolve()


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """The run's seed, as an integer."""
    text = request.config.option.hypothesis_seed
    return int(text) if text.isdecimal() else random.Random(text).getrandbits(32)


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of real published payloads; absent, the test skips here and fails in CI."""
    folder = archive_folder()
    if not folder.is_dir():
        reason = f"no published payloads at {folder}; set NIGHTGRID_ARCHIVE"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
