"""Prefect is begun for a night or a count with work, and not before there is some."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nightgrid.archive.lake.json_files import read_json
from nightgrid.flows.count.count import count_steps
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night import steps
from nightgrid.flows.night.night import work_night, work_steps
from nightgrid.flows.night.report import NightFailedError
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.prefect import environment, preload
from nightgrid.flows.runs import StoppedError, Watch
from nightgrid.flows.start import run_count, run_night
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.settings import Settings
from tests.flows.nights import run_one

Night = Callable[..., NightSettings]
SPEC = "pips:n=20,mix=easy,seed=4"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand for Prefect; gives what was done, in order."""
    done: list[str] = []

    class Coming(preload.Preload):
        def begin(self) -> None:
            if "begun" not in done:
                done.append("begun")

        def ready(self) -> None:
            done.append("ready")

    def tell(name: str, step: Any) -> Any:
        def run(*args: Any) -> Any:
            done.append(name)
            return step(*args)

        return run

    monkeypatch.setattr("nightgrid.flows.start.Preload", Coming)
    monkeypatch.setattr(environment, "available", lambda: True)
    monkeypatch.setitem(
        sys.modules,
        "nightgrid.flows.prefect.tasks",
        SimpleNamespace(
            run_night_flow=lambda night, watch, ahead: work_steps(night, watch, tell, ahead),
            run_count_flow=lambda settings, watch, planner, ahead: count_steps(
                settings, watch, tell, planner, ahead
            ),
        ),
    )
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    return done


STEPS = ["fetch", "normalise", "plan", "solve", "aggregate", "report"]


def test_prefect_comes_while_sources_are_fetched_and_an_idle_night_goes_without(
    engine: list[str], source: Callable[[int], Path], night: Night, monkeypatch: Any
):
    settings = night(source(2))
    real = steps.fetching.fetch

    def fetch(*args: Any, **kwargs: Any) -> Any:
        engine.append("asked")
        found = real(*args, **kwargs)
        engine.append("fetched")
        return found

    monkeypatch.setattr(steps.fetching, "fetch", fetch)
    worked: list[Any] = []
    watch = Watch(on_work=worked.append)
    (first,) = run_night(settings, watch, prefect=True).games
    assert engine == ["asked", "begun", "fetched", "ready", *STEPS]
    assert (first.new_payloads, first.solved) == (2, 6)
    assert worked == [["pips"], ["pips"]], "kernels are made ready before a plan"

    engine.clear()
    worked.clear()
    (idle,) = run_night(settings, watch, prefect=True).games
    assert engine == ["asked", "fetched"]
    assert worked == []
    plain_report = run_one(settings)
    assert replace(idle, wall_seconds=0.0) == replace(plain_report, wall_seconds=0.0)
    filed = read_json(settings.lake, steps.report_path("pips"))
    assert filed is not None
    assert filed["already_known"] == 6


def test_work_that_an_earlier_night_has_left_is_done_under_prefect(
    engine: list[str], source: Callable[[int], Path], night: Night
):
    settings = night(source(1))

    def stop(name: str, step: Any) -> Any:
        def run(*_: Any) -> Any:
            raise StoppedError("killed here")

        return run if name == "solve" else step

    with pytest.raises(StoppedError):
        work_night(settings, as_step=stop)

    (report,) = run_night(settings, prefect=True).games

    assert engine == ["begun", "ready", *STEPS]
    assert (report.resumed, report.solved, report.new_payloads) == (True, 3, 0)


def test_a_missing_source_is_told_before_anything_begins(
    engine: list[str], night: Night, tmp_path: Path
):
    with pytest.raises(PermanentError, match="is not a folder"):
        run_night(night(tmp_path / "nowhere"), prefect=True)
    assert engine == []


def test_a_missing_source_leaves_no_lake(engine: list[str], night: Night, tmp_path: Path):
    settings = night(tmp_path / "nowhere")
    lake = tmp_path / "none yet"
    workers = settings.workers.model_copy(update={"lake": str(lake)})
    with pytest.raises(PermanentError, match="is not a folder"):
        run_night(replace(settings, workers=workers), prefect=False)
    assert not lake.exists()


def test_of_several_games_a_missing_source_is_told_first_and_fails_its_game_alone(
    engine: list[str], source: Callable[[int], Path], night: Night, tmp_path: Path
):
    settings = night(source(1))
    missing = NightGame(source=str(tmp_path / "nowhere"), game="tiles")
    settings = replace(settings, games=(*settings.games, missing))
    told: list[str] = []
    watch = Watch(
        on_trouble=lambda game, why: told.append(f"{game}: {why}"),
        on_report=lambda report: told.append(report.game),
    )
    with pytest.raises(NightFailedError) as caught:
        run_night(settings, watch, prefect=True)
    assert caught.value.report.of("pips").solved == 3
    assert [line.partition(":")[0] for line in told] == ["tiles", "pips", "tiles"]
    assert "is not a folder" in told[0]
    assert engine[:2] == ["begun", "ready"]


@pytest.mark.parametrize("server", [False, True])
def test_an_idle_night_whose_source_failed_is_a_flow_run_where_a_server_keeps_it(
    engine: list[str],
    source: Callable[[int], Path],
    night: Night,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: bool,
):
    if server:
        monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    settings = night(source(1))
    run_one(settings)
    missing = NightGame(source=str(tmp_path / "nowhere"), game="tiles")
    with pytest.raises(NightFailedError):
        run_night(replace(settings, games=(*settings.games, missing)), prefect=True)
    assert ("ready" in engine) == server


def test_a_lake_that_fails_ahead_fails_the_step_once_which_may_be_tried_again(
    engine: list[str], source: Callable[[int], Path], night: Night, monkeypatch: Any
):
    failures = [TransientError("the lake is away")]
    real = steps.fetching.fetch

    def fetch(*args: Any, **kwargs: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(*args, **kwargs)

    monkeypatch.setattr(steps.fetching, "fetch", fetch)
    with pytest.raises(TransientError, match="the lake is away"):
        run_night(night(source(1)), prefect=True)
    assert engine == ["begun", "ready", "fetch"]


def test_sigterm_stops_a_night_before_it_has_begun(
    engine: list[str], source: Callable[[int], Path], night: Night, monkeypatch: Any
):
    def fetch(*_: Any, **__: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(steps.fetching, "fetch", fetch)
    with pytest.raises(StoppedError, match="the same command goes on"):
        run_night(night(source(1)), prefect=True)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_count_with_nothing_to_do_goes_without_prefect_and_without_a_planner(
    engine: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    workers = Settings(lake=str(tmp_path / "lake"), games="pips")
    settings = CountSettings(corpus=SPEC, executor="inline", workers=workers)
    slices: list[tuple[int, int]] = []
    watch = Watch(on_slices=lambda *told: slices.append(told))
    first = run_count(settings, watch, prefect=True)
    assert engine == ["begun", "ready", "corpus", "plan", "solve", "report"]
    assert (first.planned, first.figures.statuses) == (20, {"solved": 20})
    assert slices[-1] == (1, 1)

    engine.clear()
    monkeypatch.setattr("nightgrid.flows.count.planner.pool_of", lambda _: pytest.fail("a process"))
    celery = replace(settings, executor="celery")
    again = run_count(celery, prefect=True)
    assert engine == []
    assert again.finished_before
    assert again.figures == first.figures
    assert run_count(settings, prefect=False).sentence() == again.sentence()


def test_what_no_count_can_be_is_told_before_anything_begins(engine: list[str], tmp_path: Path):
    workers = Settings(lake=str(tmp_path / "lake"), games="pips")
    with pytest.raises(PermanentError):
        run_count(CountSettings(corpus=str(tmp_path / "no"), workers=workers), prefect=True)
    assert engine == []


def test_ctrl_c_while_prefect_comes_ends_its_server_before_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
):
    stopped, served = threading.Event(), threading.Event()

    def start(coming: preload.Preload) -> None:
        coming._server = SimpleNamespace(stop=stopped.set)
        os.kill(os.getpid(), signal.SIGINT)
        if stopped.wait(60):
            served.set()

    monkeypatch.setattr(preload.Preload, "_start", start)
    with pytest.raises(KeyboardInterrupt), preload.Preload() as coming:
        coming.ready()
    assert stopped.is_set()
    assert served.is_set(), "its thread has ended, too"


def test_ctrl_c_of_a_terminal_does_not_reach_the_temporary_server(
    monkeypatch: pytest.MonkeyPatch,
):
    import prefect.server.api.server
    from prefect.settings import PREFECT_API_URL, temporary_settings

    deaf: list[str] = []
    code = "import signal as s; print(s.SIGINT in s.pthread_sigmask(s.SIG_BLOCK, ()))"

    class Server:
        def start(self) -> None:
            done = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
            )
            deaf.append(done.stdout.strip())

    monkeypatch.setattr(prefect.server.api.server, "SubprocessASGIServer", Server)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        preload.Preload()._start()
    assert deaf == ["True"]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_the_wait_for_prefect_is_told(
    engine: list[str], source: Callable[[int], Path], night: Night
):
    @contextmanager
    def waiting(what: str) -> Any:
        engine.append(what)
        yield
        engine.append("awaited")

    run_night(night(source(1)), Watch(waiting=waiting), prefect=True)
    told = "Prefect's temporary server is coming up; --no-prefect does without"
    assert engine == ["begun", told, "ready", "awaited", *STEPS]
