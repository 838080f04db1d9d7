"""Invalid settings of a night are refused before it starts."""

from __future__ import annotations

import datetime as dt
import os

import pytest

from nightgrid.flows.night.settings import (
    FIRST_PAYLOADS,
    NightGame,
    NightSettings,
    night_sources,
)
from nightgrid.flows.prefect import server
from nightgrid.solvers.algebra import MEANT, Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug
from nightgrid.workers.settings import Settings


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"source": ""}, "source is empty; expected a folder or an http"),
        ({"source": "http://me:secret@host/x"}, "the source's URL carries credentials"),
        ({"game": "chess"}, "unknown game 'chess'; expected one of pips"),
        ({"refresh_days": -1}, "refresh_days is -1; expected 0 or more"),
        (
            {"since": dt.date(2026, 1, 2), "until": dt.date(2026, 1, 1)},
            "since 2026-01-02 is after until 2026-01-01",
        ),
        ({"lexicon": "words.txt"}, "pips is not played with words; expected no lexicon"),
        ({"rules": "spangram=off"}, "spangram"),
        (
            {"asks": (Ask(kind="count"), Ask(kind="first"), Ask(kind="count"))},
            "asks are count, first, count; expected each once",
        ),
        ({"executor": "threads"}, "unknown executor 'threads'; expected celery or inline"),
    ],
)
def test_a_value_that_no_night_can_have_is_one_clear_error(values, sentence, tmp_path):
    workers = Settings(lake=str(tmp_path))
    executor = values.get("executor", "inline")
    of = {name: value for name, value in values.items() if name != "executor"}

    def settings() -> NightSettings:
        games = (NightGame(**{"source": "payloads"} | of),)
        return NightSettings(games=games, executor=executor, workers=workers)

    with pytest.raises(PermanentError, match=sentence):
        settings()


def test_a_night_uses_the_default_asks_of_its_game():
    assert NightGame(source="payloads").asks == game_plug("pips").night_asks != ()
    asks = (Ask(kind="first"),)
    assert NightGame(source="payloads", asks=asks, refresh_days=0).asks == asks


def test_a_night_that_ranks_asks_it_of_the_games_that_answer(tmp_path):
    workers = Settings(lake=str(tmp_path), rank=True)
    games = tuple(NightGame(source=game, game=game) for game in ("pips", "strands"))
    pips, strands = NightSettings(games=games, workers=workers).games
    assert pips.asks == games[0].asks
    assert strands.asks == (*games[1].asks, MEANT)
    again = NightSettings(games=(strands,), workers=workers)
    assert again.games == (strands,)


def test_prefect_is_told_to_be_silent_but_the_user_has_the_last_word(monkeypatch):
    for name in server._QUIET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_RESULTS_DEFAULT_SERIALIZER", "compressed/json")

    server.set_environment()

    assert os.environ["DO_NOT_TRACK"] == "1"
    assert os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert os.environ["PREFECT_RESULTS_DEFAULT_SERIALIZER"] == "compressed/json"


def test_sources_are_named_by_game_or_by_the_folders_of_a_folder(tmp_path):
    for name in ("pips", "strands", "notes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "2025-01-01.json").touch()
    (tmp_path / "a=b").mkdir()
    inside = dict.fromkeys(("pips", "strands"), str(tmp_path))
    assert night_sources([str(tmp_path)]) == inside
    assert night_sources([str(tmp_path)], "strands") == {"strands": str(tmp_path)}
    assert night_sources(["tiles=there", "strands"]) == {"tiles": "there", "pips": "strands"}
    assert night_sources(["pips"], "tiles") == {"tiles": "pips"}
    assert night_sources([str(tmp_path / "a=b")]) == {"pips": str(tmp_path / "a=b")}
    assert night_sources(["http://host/?a=b"]) == {"pips": "http://host/?a=b"}


def test_a_folder_is_of_the_game_that_its_payloads_are_of(tmp_path):
    (tmp_path / "2025-01-01.json").write_text("damaged")
    assert night_sources([str(tmp_path)]) == {"pips": str(tmp_path)}
    (tmp_path / "2025-01-02.json").write_text('{"sides": ["TAP", "ERD", "NIL", "YCO"]}')
    (tmp_path / "2025-01-03.json").write_text('["CATS", "DOGS"]')
    assert night_sources([str(tmp_path)]) == {"letterboxed": str(tmp_path)}
    assert night_sources([str(tmp_path)], "strands") == {"strands": str(tmp_path)}
    assert night_sources([f"tiles={tmp_path}"]) == {"tiles": str(tmp_path)}


def test_a_night_has_a_game_and_none_twice(tmp_path):
    workers, game = Settings(lake=str(tmp_path)), NightGame(source="payloads")
    assert NightSettings(games=(game,), workers=workers).games == (game,)
    for games, sentence in (
        ((), "a night needs a game; expected the source of at least one"),
        ((game, game), "pips has two sources"),
    ):
        with pytest.raises(PermanentError, match=sentence):
            NightSettings(games=games, workers=workers)


def test_a_few_payloads_identify_the_game_of_a_folder(tmp_path):
    for number in range(1, FIRST_PAYLOADS):
        (tmp_path / f"2025-01-{number:02d}.json").write_text("damaged")
    last, after = (tmp_path / f"2025-01-{FIRST_PAYLOADS + i:02d}.json" for i in (0, 1))
    last.write_text('{"sides": ["TAP", "ERD", "NIL", "YCO"]}')
    assert night_sources([str(tmp_path)]) == {"letterboxed": str(tmp_path)}
    last.rename(after)
    last.write_text("damaged")
    assert night_sources([str(tmp_path)]) == {"pips": str(tmp_path)}
