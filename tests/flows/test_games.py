"""One night over several games: whatever ails one of them, the others are done."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from archive.gold import COUNTS_PATH
from archive.lake import Lake
from archive.sources import Politeness
from archive.tables import COUNTS_BY_DATE
from flows import games, steps
from flows.cluster import batch_is_served
from flows.games import GamesFailedError, run_games
from flows.nightly import one_night, run_nightly
from flows.report import GamesReport
from flows.settings import NightlySettings
from flows.sources import night_sources
from solvers.algebra import Ask
from solvers.errors import PermanentError, TransientError
from tests.archive.letter_days import write_days
from tests.flows.nights import results

Night = Callable[..., NightlySettings]
Three = Callable[[str], list[NightlySettings]]
LETTER_DAYS = 3
DAY = dt.date(2025, 8, 18)


@pytest.fixture
def three(night: Night, source: Callable[[int], Path], tmp_path: Path) -> Three:
    """Settings of a night over Pips, Strands and Letter Boxed, of which Strands has the source
    that is given.
    """

    def settings(strands: str) -> list[NightlySettings]:
        letters = write_days(tmp_path / "letters", LETTER_DAYS)
        return [
            night(source(1), game="pips"),
            dataclasses.replace(night(Path(), game="strands"), source=strands),
            night(letters, game="letterboxed"),
        ]

    return settings


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that answers 500 to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(500)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr(
        "archive.sources.web.Politeness", lambda: Politeness(interval_s=0.0, backoff_s=0.001)
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def failed_night(nights: list[NightlySettings]) -> GamesReport:
    with pytest.raises(GamesFailedError) as caught:
        run_games(nights, prefect=False)
    return caught.value.report


def assert_only_strands_failed(report: GamesReport, why: str) -> None:
    assert [section.game for section in report.games] == ["pips", "strands", "letterboxed"]
    assert [section.failed for section in report.games] == [False, True, False]
    assert (report.of("pips").solved, report.of("letterboxed").solved) == (3, LETTER_DAYS)
    strands = report.of("strands")
    assert why in strands.failure + strands.source_trouble
    assert report.sentence().startswith("strands failed; pips, letterboxed are done")
    told = json.loads(json.dumps(report.to_json()))
    assert told["failed"] is True
    assert told["games"]["letterboxed"]["solved"] == LETTER_DAYS
    assert "## strands" in report.to_markdown()


def test_a_folder_that_is_missing_costs_its_game_alone(three: Three, tmp_path: Path) -> None:
    report = failed_night(three(str(tmp_path / "nowhere")))
    assert_only_strands_failed(report, "is not a folder")


def test_a_server_that_fails_costs_its_game_alone(three: Three, refusing: str) -> None:
    nights = three(refusing)
    day = dataclasses.replace(nights[1], since=DAY, until=DAY)
    report = failed_night([nights[0], day, nights[2]])
    assert_only_strands_failed(report, "gave nothing: the date asked for failed")


def test_payloads_that_are_all_broken_cost_their_game_alone_every_night(
    three: Three, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "2026-01-01.json").write_text("[not json")
    for _ in range(2):
        report = failed_night(three(str(broken)))
        assert report.of("strands").source_failed
        assert "in quarantine" in report.of("strands").source_trouble
    assert report.of("strands").fetched == 1
    assert report.of("letterboxed").already_known == LETTER_DAYS


def test_a_reader_that_raises_costs_its_game_alone(
    three: Three, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_payload(*_: object) -> None:
        raise RuntimeError("the reader is broken")

    monkeypatch.setattr("archive.strands.read_payload", read_payload)
    folder = write_days(tmp_path / "strands", 1)
    report = failed_night(three(str(folder)))
    assert_only_strands_failed(report, "RuntimeError: the reader is broken")
    filed = json.loads(
        Lake.open(three("x")[0].workers.lake).read_bytes("gold/nightly-strands.json")
    )
    assert filed["failure"] == "RuntimeError: the reader is broken"


def test_games_that_all_go_well_are_what_each_alone_would_be(
    three: Three, night: Night, tmp_path: Path
) -> None:
    pips, _, letters = three("x")
    seen: list[str] = []
    report = run_games(
        [pips, letters], prefect=False, on_report=lambda section: seen.append(section.game)
    )
    assert seen == ["pips", "letterboxed"]
    assert not report.failed
    alone = [
        dataclasses.replace(
            settings, workers=settings.workers.model_copy(update={"lake": str(tmp_path / "alone")})
        )
        for settings in (pips, letters)
    ]
    for settings in alone:
        run_nightly(settings, prefect=False)
    assert results(pips).equals(results(alone[0]))
    gold = Lake.open(pips.workers.lake).read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    boxed = [row for row in gold if row["game"] == "letterboxed"]
    assert [(row["value"], row["official_solution_best"]) for row in boxed] == [(2, True)] * 3
    assert {row["value"] for row in gold if row["game"] == "pips"} == {None}


def test_a_night_that_fails_midway_is_ended_by_the_next(three: Three) -> None:
    pips, _, letters = three("x")

    seen = set()

    def die(progress: steps.Progress) -> None:
        seen.add(progress.run_id)
        if progress.chunks_done and len(seen) > 1:
            raise MemoryError

    nights = [pips, letters]
    with pytest.raises(GamesFailedError) as caught:
        run_games(nights, prefect=False, on_progress=die)
    assert "MemoryError" in caught.value.report.of("letterboxed").failure
    report = run_games(nights, prefect=False)
    assert report.of("letterboxed").resumed
    assert report.of("letterboxed").solved == LETTER_DAYS
    assert run_games(nights, prefect=False).of("letterboxed").planned == 0


def test_a_signal_stops_the_whole_night(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise steps.NightStoppedError("asked to stop")

    pips, _, letters = three("x")
    monkeypatch.setattr(games, "PLAIN", dataclasses.replace(games.PLAIN, solve=stop))
    with pytest.raises(steps.NightStoppedError):
        run_games([pips, letters], prefect=False)


def test_nights_that_do_not_go_together_are_refused(three: Three) -> None:
    pips, strands, letters = three("x")
    other = dataclasses.replace(
        letters, workers=letters.workers.model_copy(update={"lake": "/elsewhere"})
    )
    for nights, why in (
        ([], "needs a game"),
        ([pips, strands, pips], "pips has two sources"),
        ([pips, other], "share lake, workers and executor"),
    ):
        with pytest.raises(PermanentError, match=why):
            run_games(nights, prefect=False)


@pytest.mark.parametrize(("game", "ask"), [("tiles", "count"), ("pips", "best(3)")])
def test_what_a_game_does_not_answer_is_refused_before_the_night(game: str, ask: str) -> None:
    with pytest.raises(PermanentError, match=rf"^{ask[:4]}.* is (not )?for "):
        NightlySettings(source="x", game=game, asks=(Ask.parse(ask),))


def test_a_scheduled_night_waits_for_no_other(three: Three, tmp_path: Path) -> None:
    tasks = pytest.importorskip("flows.tasks")
    nights = three(str(tmp_path / "none"))
    with one_night(nights[0].workers):
        with pytest.raises(TransientError, match="another night is at work"):
            tasks.games_flow.fn(**tasks.games_parameters(nights))
        with pytest.raises(TransientError, match="another night is at work"):
            tasks.nightly_flow.fn(**tasks.parameters(nights[0]))


def test_sources_are_named_by_game_or_by_the_folders_in_a_folder(tmp_path: Path) -> None:
    for name in ("strands", "letterboxed", "other"):
        (tmp_path / name).mkdir()
    strands, letters = str(tmp_path / "strands"), str(tmp_path / "letterboxed")
    assert night_sources([str(tmp_path)]) == {"strands": strands, "letterboxed": letters}
    assert night_sources([str(tmp_path)], "letterboxed") == {"letterboxed": letters}
    assert night_sources([strands]) == {"pips": strands}
    assert night_sources(["strands=x", "https://example.org/a=b"], "tiles") == {
        "strands": "x",
        "tiles": "https://example.org/a=b",
    }
    with pytest.raises(PermanentError, match="strands has two sources"):
        night_sources(["strands=x", str(tmp_path)])


@pytest.mark.cluster
def test_a_celery_night_over_three_games_survives_one_broken_source(
    three: Three, tmp_path: Path
) -> None:
    inline = three(str(tmp_path / "nowhere"))
    failed_night(inline)
    workers = inline[0].workers.model_copy(
        update={"lake": str(tmp_path / "celery" / "lake"), "batch_processes": 1}
    )
    nights = [dataclasses.replace(n, executor="celery", workers=workers) for n in inline]
    report = failed_night(nights)
    assert_only_strands_failed(report, "is not a folder")
    assert results(nights[0]).equals(results(inline[0]))
    assert not batch_is_served(workers)
