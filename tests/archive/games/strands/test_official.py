"""Official solutions of Strands are checked against the board, with or without their cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.strands.payload import read_puzzles
from nightgrid.archive.games.strands.plug import PLUG
from nightgrid.archive.payloads.published import Published
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.solution import cover_from_json, cover_to_json

SAMPLE = Path(__file__).parents[4] / "service" / "sample" / "strands" / "2026-01-01.json"
STRANDS = game("strands")


def is_valid(puzzle: Puzzle, value: dict[str, Any]) -> bool | None:
    return archive_plug("strands").is_official(STRANDS, puzzle, cover_from_json(value))


@pytest.fixture(scope="module")
def published() -> Published:
    (found,) = read_puzzles(SAMPLE.read_bytes(), SAMPLE.name)
    assert isinstance(found, Published)
    return found


@pytest.fixture
def cover(published: Published) -> dict[str, Any]:
    return cover_to_json(published.solution)


def without_paths(cover: dict[str, Any]) -> dict[str, Any]:
    bare = json.loads(json.dumps(cover))
    for entry in (bare["spangram"], *bare["theme_words"]):
        entry["path"] = []
    return bare


def test_a_whole_answer_is_valid_and_one_that_breaks_a_rule_is_not(
    published: Published, cover: dict[str, Any]
) -> None:
    assert is_valid(published.puzzle, cover) is True
    cover["theme_words"][0]["path"].reverse()
    assert is_valid(published.puzzle, cover) is False


@pytest.mark.parametrize("kept", ["none", "the spangram's", "the first word's"])
def test_words_without_cells_are_placed_where_they_fit(
    published: Published, cover: dict[str, Any], kept: str
) -> None:
    bare = without_paths(cover)
    if kept == "the spangram's":
        bare["spangram"] = cover["spangram"]
    elif kept == "the first word's":
        bare["theme_words"][0] = cover["theme_words"][0]
    assert is_valid(published.puzzle, bare) is True
    bare["theme_words"][-1]["word"] = bare["theme_words"][-1]["word"][::-1] + "Q"
    assert is_valid(published.puzzle, bare) is False


def test_words_that_fit_in_more_ways_than_can_be_searched_are_not_called_wrong() -> None:
    puzzle = Puzzle(board=("AAAAAA",) * 8, theme_words=4)
    words = [{"word": "A" * length, "path": []} for length in (12, 13, 11, 8, 4)]
    value = {"spangram": words[0], "theme_words": words[1:], "score": 0}
    assert is_valid(puzzle, value) is not False


def test_a_cover_is_the_official_one_by_the_cells_that_are_known(
    published: Published, cover: dict[str, Any]
) -> None:
    found = published.solution
    bare = cover_from_json(without_paths(cover))
    assert PLUG.is_same(found, found)
    assert PLUG.is_same(bare, found)
    fewer = dict(cover, theme_words=cover["theme_words"][1:])
    assert not PLUG.is_same(bare, cover_from_json(fewer))
    moved = json.loads(json.dumps(cover))
    moved["theme_words"][0]["path"][0] = [7, 5]
    assert PLUG.is_same(bare, cover_from_json(moved))
    assert not PLUG.is_same(found, cover_from_json(moved))
