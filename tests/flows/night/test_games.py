"""A night over several games: a failure of one does not affect the others."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.lake.schemas import COUNTS_BY_DATE
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH
from nightgrid.archive.state import NIGHT_REPORT, read_state
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import NightFailedError, NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.runs import StoppedError, Watch
from nightgrid.flows.start import run_night
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.driver.progress import Progress
from tests.archive.games.letterboxed.letter_days import write_days
from tests.flows.nights import results, run_one

Night = Callable[..., NightSettings]
Three = Callable[[str], NightSettings]
LETTER_DAYS = 3


@pytest.fixture
def three(night: Night, source: Callable[[int], Path], tmp_path: Path) -> Three:
    """Settings of a night over Pips, Strands and Letter Boxed; Strands has the given source."""

    def settings(strands: str) -> NightSettings:
        letters = write_days(tmp_path / "letters", LETTER_DAYS)
        pips = night(source(1))
        others = (
            NightGame(source=strands, game="strands"),
            NightGame(source=str(letters), game="letterboxed"),
        )
        return dataclasses.replace(pips, games=pips.games + others)

    return settings


@pytest.fixture
def two(three: Three) -> NightSettings:
    """Settings of a night over Pips and Letter Boxed."""
    night = three("x")
    return dataclasses.replace(night, games=(night.games[0], night.games[2]))


def failed_night(night: NightSettings) -> NightReport:
    with pytest.raises(NightFailedError) as caught:
        run_night(night, prefect=False)
    return caught.value.report


def assert_only_strands_failed(report: NightReport, why: str) -> None:
    assert [section.game for section in report.games] == ["pips", "strands", "letterboxed"]
    assert [section.failed for section in report.games] == [False, True, False]
    assert (report.of("pips").solved, report.of("letterboxed").solved) == (3, LETTER_DAYS)
    strands = report.of("strands")
    assert why in strands.failure + strands.source_trouble
    assert report.sentence().startswith("strands failed; pips, letterboxed are done")
    told = json.loads(json.dumps(report.to_json()))
    assert told["failed"] is True
    assert told["games"]["letterboxed"]["solved"] == LETTER_DAYS


def test_a_folder_that_is_missing_affects_only_its_game(three: Three, tmp_path: Path) -> None:
    report = failed_night(three(str(tmp_path / "nowhere")))
    assert_only_strands_failed(report, "is not a folder")


def test_successful_games_equal_single_nights(two: NightSettings, tmp_path: Path) -> None:
    seen: list[str] = []
    watch = Watch(on_report=lambda section: seen.append(section.game))
    report = run_night(two, watch, prefect=False)
    assert seen == ["pips", "letterboxed"]
    assert not report.failed
    workers = two.workers.model_copy(update={"lake": str(tmp_path / "alone")})
    alone = [dataclasses.replace(two, games=(game,), workers=workers) for game in two.games]
    for settings in alone:
        run_one(settings)
    assert results(two).equals(results(alone[0]))
    gold = two.lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    boxed = [row for row in gold if row["game"] == "letterboxed"]
    assert [(row["value"], row["official_solution_best"]) for row in boxed] == [(2, True)] * 3
    assert {row["value"] for row in gold if row["game"] == "pips"} == {None}


def test_a_night_that_fails_midway_is_ended_by_the_next(two: NightSettings) -> None:
    seen = set()

    def die(progress: Progress) -> None:
        seen.add(progress.run_id)
        if progress.chunks_done and len(seen) > 1:
            raise MemoryError

    with pytest.raises(NightFailedError) as caught:
        run_night(two, Watch(on_progress=die), prefect=False)
    assert "MemoryError" in caught.value.report.of("letterboxed").failure
    report = run_night(two, prefect=False)
    assert report.of("letterboxed").resumed
    assert report.of("letterboxed").solved == LETTER_DAYS
    assert run_night(two, prefect=False).of("letterboxed").planned == 0


def test_a_signal_stops_the_whole_night_and_reports_what_was_solved(two: NightSettings) -> None:
    def stopping(what: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def run(night: NightSettings, game: NightGame, *given: Any) -> Any:
            if what == "solve" and game.game == "letterboxed":
                raise StoppedError("asked to stop")
            return step(night, game, *given)

        return run

    reported: list[str] = []
    watch = Watch(on_report=lambda report: reported.append(report.game))
    with pytest.raises(StoppedError):
        work_night(two, watch, as_step=stopping)
    assert reported == ["pips"]
    told = read_state(two.lake, "pips", NIGHT_REPORT)
    assert told is not None
    assert told["solved"]


@pytest.mark.parametrize("name", ["fetch", "normalise", "solve", "aggregate", "report"])
def test_an_error_in_any_step_affects_only_its_game_but_ends_a_night_of_one(
    two: NightSettings, name: str
) -> None:
    def broken(what: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def run(night: NightSettings, game: NightGame, *given: Any) -> Any:
            if what == name and game.game == "pips":
                raise OSError(f"no {name}")
            return step(night, game, *given)

        return run

    with pytest.raises(NightFailedError, match=rf"pips: .*OSError: no {name}") as caught:
        work_night(two, as_step=broken)
    report = caught.value.report
    assert [section.failed for section in report.games] == [True, False]
    assert report.of("letterboxed").solved == LETTER_DAYS
    with pytest.raises(OSError, match=f"no {name}"):
        work_night(dataclasses.replace(two, games=two.games[:1]), as_step=broken)


@pytest.mark.parametrize(("game", "ask"), [("tiles", "count"), ("pips", "best(3)")])
def test_an_unsupported_ask_is_refused_before_the_night(game: str, ask: str) -> None:
    with pytest.raises(PermanentError, match=rf"^{ask[:4]}.* is (not )?for "):
        NightGame(source="x", game=game, asks=(Ask.parse(ask),))


def test_a_night_waits_for_no_other(
    three: Three, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nightgrid.workers.lease.RENEW_EVERY_S", 0.1)
    night = three(str(tmp_path / "none"))
    seen = []

    def begin_another(_: object) -> None:
        for games in (night.games, night.games[:1]):
            with pytest.raises(TransientError, match="another night is running"):
                work_night(dataclasses.replace(night, games=games))
            seen.append(games)

    with pytest.raises(NightFailedError):
        work_night(night, Watch(on_report=begin_another))
    assert len(seen) == 6
