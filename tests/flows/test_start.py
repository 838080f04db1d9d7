"""Prefect starts for a night or a count once there is work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nightgrid.archive.state import NIGHT_REPORT, read_state
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night.report import NightFailedError
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.prefect import server
from nightgrid.flows.runs import Watch
from nightgrid.flows.start import run_count, run_night
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.settings import Settings
from tests.flows.nights import run_one

Night = Callable[..., NightSettings]
SPEC = "pips:n=20,mix=easy,seed=4"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace Prefect; return the calls, in order."""
    done: list[str] = []

    def tell(name: str, step: Any) -> Any:
        def run(*args: Any) -> Any:
            done.append(name)
            return step(*args)

        return run

    monkeypatch.setattr(server, "is_installed", lambda: True)
    monkeypatch.setattr(server, "check_named_server", server.is_named)
    monkeypatch.setattr(server, "start_temporary_server", lambda: done.append("server"))
    flows = SimpleNamespace(run_in_flow=lambda name, shown, watch, rest: rest(tell, watch))
    monkeypatch.setitem(sys.modules, "nightgrid.flows.prefect.flows", flows)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    return done


STEPS = ["solve", "aggregate", "report"]


def test_prefect_comes_once_there_is_work_and_an_idle_night_goes_without(
    engine: list[str], source: Callable[[int], Path], night: Night
):
    settings = night(source(2))
    worked: list[Any] = []
    watch = Watch(on_work=worked.append)
    (first,) = run_night(settings, watch).games
    assert engine == ["server", *STEPS]
    assert (first.new_payloads, first.solved) == (2, 6)
    assert worked == [["pips"], ["pips"]], "kernels are made ready before a plan"

    engine.clear()
    worked.clear()
    (idle,) = run_night(settings, watch).games
    assert engine == []
    assert worked == []
    plain_report = run_one(settings)
    assert replace(idle, wall_seconds=0.0) == replace(plain_report, wall_seconds=0.0)
    filed = read_state(settings.lake, "pips", NIGHT_REPORT)
    assert filed is not None
    assert filed["already_known"] == 6


def test_a_night_continues_without_prefect_if_its_temporary_server_does_not_start(
    engine: list[str],
    source: Callable[[int], Path],
    night: Night,
    monkeypatch: pytest.MonkeyPatch,
):
    def fail() -> None:
        raise server.NoServerError("Prefect's temporary server did not start within 30 s")

    monkeypatch.setattr(server, "start_temporary_server", fail)
    told: list[str] = []
    settings = night(source(1))
    with pytest.raises(TransientError, match="did not start within 30 s"):
        run_night(settings, prefect=True)
    (report,) = run_night(settings, Watch(on_note=told.append)).games
    assert (report.resumed, report.solved) == (True, 3)
    assert told == [
        "Prefect's temporary server did not start within 30 s; continuing without Prefect"
    ]
    assert engine == []


def test_a_missing_source_leaves_no_lake(engine: list[str], night: Night, tmp_path: Path):
    settings = night(tmp_path / "nowhere")
    lake = tmp_path / "none yet"
    workers = settings.workers.model_copy(update={"lake": str(lake)})
    with pytest.raises(PermanentError, match="is not a folder"):
        run_night(replace(settings, workers=workers), prefect=False)
    assert not lake.exists()


def test_of_several_games_a_missing_source_is_reported_first_and_fails_only_its_game(
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
    assert engine[:2] == ["server", "solve"]


@pytest.mark.parametrize("named", [False, True])
def test_an_idle_night_whose_source_failed_is_a_flow_run_on_a_named_server(
    engine: list[str],
    source: Callable[[int], Path],
    night: Night,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: bool,
):
    if named:
        monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    settings = night(source(1))
    run_one(settings)
    missing = NightGame(source=str(tmp_path / "nowhere"), game="tiles")
    with pytest.raises(NightFailedError):
        run_night(replace(settings, games=(*settings.games, missing)), prefect=True)
    # Both games are solved before the tables of either are written.
    assert engine == (["solve", *STEPS, *STEPS[1:]] if named else [])


def test_a_count_with_nothing_to_do_goes_without_prefect_and_without_a_planner(
    engine: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    workers = Settings(lake=str(tmp_path / "lake"), games="pips")
    settings = CountSettings(corpus=SPEC, executor="inline", workers=workers)
    first = run_count(settings, prefect=True)
    assert engine == ["server", "solve", "report"]
    assert (first.planned, first.figures.statuses) == (20, {"solved": 20})

    engine.clear()
    monkeypatch.setattr("nightgrid.flows.count.planner.pool_of", lambda _: pytest.fail("a process"))
    celery = replace(settings, executor="celery")
    again = run_count(celery, prefect=True)
    assert engine == []
    assert again.finished_before
    assert again.figures == first.figures
    assert run_count(settings, prefect=False).finished_before
