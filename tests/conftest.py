"""Fixtures of all tests: a printed seed, and the folder of real published payloads."""

from __future__ import annotations

import atexit
import gc
import os
import random
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from benchmarks.instruments.s3_server import s3_thread
from tests.drawn import drawn
from tests.shares import WAITING_FOLDERS, share_of
from tests.warm_interpreter import started

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_ARCHIVE = ROOT.parent / "shared" / "puzzles"


# Collecting tests creates millions of lasting objects, which make garbage collection slow.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but only of tests."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Unfreeze objects before the interpreter exits: C++ libraries count leaks.

    pytest collects garbage twice after this, but only of tests.
    """
    atexit.register(gc.unfreeze)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose one seed for hypothesis and for `seed`, so that one number repeats the run.

    No example has a time limit: on a loaded machine, hypothesis would take a late one for a failure
    and spend most of a minute on shrinking it.
    """
    settings.register_profile("nightgrid", deadline=None, max_examples=drawn(100))
    settings.load_profile("nightgrid")
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders whose tests mostly wait."""
    order = {folder: i for i, folder in enumerate(WAITING_FOLDERS)}
    items.sort(key=lambda item: order.get(share_of(item.nodeid), len(order)))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the tests of a file in one process, because of its fixtures.

    Tests that start servers and workers have time limits: each such folder, with its subfolders,
    belongs to one process, so that few clusters run at a time.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Shares(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share_of(nodeid)

    return Shares(config, log)


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [
        f"seed: {config.option.hypothesis_seed} (make test SEED={config.option.hypothesis_seed})",
        f"archive: {archive_folder()}{'' if archive_folder().is_dir() else ' (absent)'}",
    ]


def archive_folder() -> Path:
    return Path(os.environ.get("NIGHTGRID_ARCHIVE") or DEFAULT_ARCHIVE).resolve()


@pytest.fixture(scope="session", autouse=True)
def _no_wait_for_the_disk() -> Iterator[None]:
    """Do not wait for the disk in this process: no test cuts the power.

    Programs started by tests do wait, and tests of flushing see each call.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def _a_process_of_its_own() -> Iterator[None]:
    """Clear a process's caches after a test, so that the next one does not find them.

    It may have created the app of a worker, which accesses stores in another process, or skipped
    damaged files, which the next command would report.
    """
    yield
    if identity := sys.modules.get("nightgrid.archive.lake.identity"):
        identity.__dict__["_forks"] = False
    if files := sys.modules.get("nightgrid.archive.skipped_files"):
        files.forget(*files.skipped_files())


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """The run's seed, as an integer."""
    text = request.config.option.hypothesis_seed
    return int(text) if text.isdecimal() else random.Random(text).getrandbits(32)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of an S3 server on loopback, which has a bucket called bucket."""
    pytest.importorskip("moto")
    with s3_thread() as url:
        yield url


@pytest.fixture(scope="session")
def warm_python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The interpreter as a program that runs in forks of a process that has loaded nightgrid."""
    with started(tmp_path_factory.mktemp("warm") / "venv") as folder:
        yield folder / "bin" / "python"


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
