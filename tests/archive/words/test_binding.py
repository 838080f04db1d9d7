"""Games as people and runs name them: bound to rules, and to words in the lake."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words import binding as games
from nightgrid.archive.words import lexicons
from nightgrid.archive.words.binding import bind_game, game_of, open_game
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.question import question_of
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.workers.runs.manifest import open_run
from tests.workers.planning import plan_run

BOARD = Puzzle(board=("CATS", "DOGS", "BIRD", "FISH"))
COUNT = Ask(kind="count")


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A word list, on a machine that has never compiled one."""
    forget(tmp_path / "machine", monkeypatch)
    path = tmp_path / "words.txt"
    path.write_text("cats\ndogs\nbird\nfish\n")
    return str(path)


def forget(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be another machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(lexicons, "_opened", {})
    monkeypatch.setattr(games, "_open", {})


def test_a_word_game_is_bound_to_the_words_given(words: str) -> None:
    game = bind_game("strands", "words=any", words)
    assert len(game.lexicon) == 4
    assert game.lexicon_id == game.lexicon.lexicon_id
    assert "words=any" in game.rules


def test_the_job_depends_on_rules_and_words(words: str, tmp_path: Path) -> None:
    other = tmp_path / "others.txt"
    other.write_text("cats\ndogs\n")
    bound = [
        bind_game("strands", "", words),
        bind_game("strands", "words=any", words),
        bind_game("strands", "", str(other)),
    ]
    assert len({question_of(game, COUNT).job_id(BOARD.puzzle_id) for game in bound}) == 3
    spelt_out = bind_game("strands", "words=given spangram=required", words)
    assert question_of(spelt_out, COUNT) == question_of(bound[0], COUNT)


def test_a_run_stores_its_rules_and_words(
    lake: Lake, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = bind_game("strands", "spangram=off", words)
    run_id = plan_run(lake, game, puzzles_table(game, [BOARD]), COUNT, Budget())
    plan = read_json(lake, f"runs/run={run_id}/plan.json")
    assert plan is not None
    assert (plan["rules"], plan["lexicon_id"]) == (game.rules, game.lexicon_id)
    forget(tmp_path / "another machine", monkeypatch)
    run = open_run(lake, run_id)
    there = game_of(lake, run.question)
    assert (there.rules, there.lexicon_id) == (game.rules, game.lexicon_id)
    assert [there.lexicon.word(i) for i in range(4)] == ["BIRD", "CATS", "DOGS", "FISH"]
    assert game_of(lake, run.question) is there


def test_a_game_without_words_leaves_none(lake: Lake) -> None:
    open_game(lake, "pips")
    games.keep_game(lake, bind_game("pips"))
    assert lake.list() == []
