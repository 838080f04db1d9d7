"""`nightgrid worker` says whether the server that it was given answers."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from nightgrid.archive import outages
from nightgrid.archive.outages import Outage
from nightgrid.service.cli.serving import worker as worker_module
from nightgrid.service.cli.serving.worker import server_watched
from nightgrid.service.options.shared_options import SETTINGS_PREFIX, default_budget
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.settings import Settings


class Heard:
    def __init__(self) -> None:
        self.begun: list[Outage] = []
        self.told = threading.Event()

    def begin(self, outage: Outage) -> None:
        self.begun.append(outage)
        self.told.set()

    def end(self, what: str, *, answers: bool) -> None:
        raise AssertionError(what)


def test_a_configured_server_that_does_not_answer_is_told_of_by_a_worker(tmp_path: Path) -> None:
    settings = Settings(lake=str(tmp_path), redis_url="redis://user:secret@127.0.0.1:9/0")  # type: ignore[arg-type]
    heard = Heard()
    with outages.notifying(heard), server_watched(settings):
        assert heard.told.wait(60)
    outage = heard.begun[0]
    assert outage.what == "the Redis server at 127.0.0.1:9"
    assert outage.until_s is None, "a worker waits for as long as it takes"
    assert "refused" in outage.why
    assert "secret" not in str(outage)


def test_without_a_setting_a_solve_has_the_budget_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.upper().startswith(SETTINGS_PREFIX)]:
        monkeypatch.delenv(name)
    assert default_budget() == Budget() == Settings().budget
    monkeypatch.setenv("NIGHTGRID_BUDGET_SECONDS", "7")
    assert default_budget().seconds == 7


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        (("server", "batch", "interactive", "keeper"), "2 batch and 1 interactive processes"),
        (("server", "batch"), "2 batch processes"),
        (("server", "interactive", "keeper"), "1 interactive process"),
        (("server", "keeper"), "a keeper"),
    ],
)
def test_a_worker_says_what_it_runs(tmp_path: Path, roles: tuple[str, ...], told: str) -> None:
    settings = Settings(lake=str(tmp_path), batch_processes=2, interactive_processes=1)
    assert worker_module._processes(settings, roles) == told


def test_a_keeper_alone_waits_for_no_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games: list[object] = []

    def warming_beside(names: object, _environment: object) -> AbstractContextManager[None]:
        games.append(names)
        return nullcontext()

    monkeypatch.setattr(worker_module, "warming_beside", warming_beside)
    settings = Settings(lake=str(tmp_path))
    with worker_module.preparing(settings, ("server", "keeper")):
        assert games == [()]
    assert "a keeper on" in capsys.readouterr().err


def test_a_server_url_that_cannot_be_read_begins_no_thread() -> None:
    settings = Settings(redis_url="redis://127.0.0.1:99999")  # type: ignore[arg-type]
    before = threading.enumerate()
    with pytest.raises(PermanentError, match="has no host or port"), server_watched(settings):
        pass
    assert threading.enumerate() == before
