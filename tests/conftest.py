"""What every test may use: a printed seed, and the folder of real published payloads."""

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


# Millions of objects are made while tests are collected, and stay: each look through them for
# garbage takes long and finds none.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from now on, among what tests leave alone."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Let the interpreter end as it would: libraries of C++ count what was not given back.

    pytest looks for garbage twice after this, among what tests left alone.
    """
    atexit.register(gc.unfreeze)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose one seed for hypothesis and for `seed`, so that one number repeats the run.

    No example has a time limit: on a machine that does other work as well, hypothesis takes a late
    one for a failure and spends most of a minute on making it smaller.
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
    """Let one process run the tests of a file, for its fixtures.

    Those of folders that start servers and workers have time limits: each such folder is one
    process's with the rooms in it, so that only as many clusters run at a time.
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
    """Let writes of this process end before the disk has them: no test cuts off the power.

    Programs that tests start do wait, and tests that ask when files are flushed see each call.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def _a_process_of_its_own() -> Iterator[None]:
    """Forget after a test what a process remembers until it ends, or the next test finds it.

    It may have made the app of a worker, which has stores asked by another process, or left out
    damaged files, which the next command would name.
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
