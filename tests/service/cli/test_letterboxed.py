"""Commands for Letter Boxed and Tiles, with real solvers on small boards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from nightgrid.service.cli.demo import SAMPLES
from nightgrid.service.options.game_rules import GameRules
from nightgrid.solvers.tiles.generate import to_page
from nightgrid.solvers.tiles.puzzle import Puzzle as TilesPuzzle
from nightgrid.solvers.tiles.solution import walk_from_json
from tests.oracles.tiles_check import check_walk

Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]

SAMPLE = SAMPLES["letterboxed"] / "2026-01-01.json"
WORDS = ("BAD", "DEED", "DECA", "ACE", "BAE", "DAB", "CAD")
SIDES = ["AE", "BC", "D"]
BOARD = {"sides": SIDES, "dictionary": list(WORDS)}
CHAINS = ["BAD - DECA"]
"""The chains of fewest words: no word has all five letters, and no other two words have."""
TILES = {"tiles": [["A1", "B1"], ["A1", "B2"], ["A2", "B1"], ["A2", "B2"]]}


@pytest.fixture
def board(write: Write) -> str:
    return write(BOARD, "board.json")


def answer(invoke: Invoke, *words: str) -> dict[str, Any]:
    code, out, _ = invoke(*words, "--json")
    assert code == 0
    value: dict[str, Any] = json.loads(out)
    return value


def chains(value: dict[str, Any]) -> list[str]:
    return [" - ".join(chain["words"]) for chain in value["solutions"]]


def test_default_is_the_best_chain_with_the_words_of_the_board(invoke: Invoke, board: str) -> None:
    value = answer(invoke, "solve", board)
    assert (value["game"], value["ask"], value["lexicon_id"]) == ("letterboxed", "best(1)", "")
    assert (value["count"], value["value"]) == (1, 2)
    assert chains(value) == CHAINS
    code, out, _ = invoke("solve", board)
    assert code == 0
    assert out.startswith(f"{board}: 3 sides, 5 letters, 7 words, puzzle ")
    assert "Found the best solution, 2 words, in " in out
    assert out.endswith("① BAD ⠒⠒⠒   ② DECA ⠒ ⠒\n")


def test_advice_suggests_other_rules_and_words(invoke: Invoke, write: Write) -> None:
    words = ("solve", "--sides", "AE,BC,DQ", "--lexicon", write("\n".join(WORDS), "words.txt"))
    code, out, err = invoke(*words)
    assert code == 2
    assert "--lexicon FILE takes those of another list" in out + err
    assert "words=fewest" not in out + err
    assert "min_length=3" not in out + err
    _, out, err = invoke(*words, "--rule", "words=1", "--rule", "min_length=4")
    assert "--rule words=fewest takes as many words as are needed" in out + err
    assert "--rule min_length=3 takes shorter words" in out + err


def test_board_is_typed_by_its_sides_and_words_come_from_a_file(
    invoke: Invoke, write: Write
) -> None:
    file = write("\n".join(WORDS), "words.txt")
    words = ("--sides", ",".join(SIDES), "--lexicon", file)
    value = answer(invoke, "solve", *words)
    assert chains(value) == CHAINS
    assert value["source"] == "AE,BC,D"
    assert value["lexicon_id"] != ""
    three = answer(invoke, "solve", *words, "--rule", "words=3", "--count")
    assert three["rules"] == "chains=3 min_letters=3"
    assert three["value"] == 2
    listed = answer(invoke, "solve", *words, "--rule", "words=3", "--all")
    assert len(set(chains(listed))) == three["count"] > 1
    assert (
        answer(invoke, "solve", "--sides", "ae bc d", *words[2:])["puzzle_id"]
        == (value["puzzle_id"])
    )


def test_fewest_letters_and_longer_words_are_rules_as_well(invoke: Invoke, board: str) -> None:
    value = answer(invoke, "solve", board, "--rule", "fewest_letters=yes", "--best", "3")
    assert value["rules"] == "chains=fewest-letters min_letters=3"
    letters = [chain["letters"] for chain in value["solutions"]]
    assert letters[0] == value["value"] == min(letters)
    code, out, _ = invoke("solve", board, "--rule", "min_length=5")
    assert code == 2
    assert "No solution exists: proven in " in out
    assert out.splitlines()[-1].startswith("No chain that these rules allow has all letters; --ru")
    code, out, _ = invoke("solve", str(SAMPLE), "--rule", "words=1")
    assert code == 2
    assert "--rule words=fewest takes as many words as are needed" in out


def test_disjoint_chains_share_no_word(invoke: Invoke, board: str) -> None:
    found = answer(invoke, "solve", board, "--disjoint", "--rule", "words=2")
    used = [word for chain in found["solutions"] for word in chain["words"]]
    assert len(used) == len(set(used))
    assert found["count"] == len(found["solutions"]) <= found["of"]
    _, out, _ = invoke("solve", board, "--disjoint")
    assert "1 chain of 1 share no word; no set is larger. Found in " in out
    code, _, err = invoke("solve", board, "--disjoint", "--rule", "words=3")
    assert (code, "only found among chains of at most two" in err) == (3, True)


def test_picture_is_written_next_to_the_answer(invoke: Invoke, board: str, tmp_path: Path) -> None:
    for options in (("solve", board), ("solve", board, "--disjoint"), ("solve", board, "--count")):
        picture = tmp_path / "board.svg"
        assert invoke(*options, "--svg", str(picture))[0] == 0
        tags = [
            element.tag.rpartition("}")[2] for element in ET.fromstring(picture.read_text()).iter()
        ]
        assert tags.count("path") >= 5
        picture.unlink()


def test_generated_boards_have_the_published_form(invoke: Invoke, write: Write) -> None:
    words = ("generate", "--game", "letterboxed", "--days", "2", "--seed", "3")
    code, out, _ = invoke(*words)
    assert code == 0
    payloads = [json.loads(line) for line in out.splitlines()]
    for payload in payloads:
        assert [len(side) for side in payload["sides"]] == [3] * 4
        assert 2 <= payload["par"] - len(payload["ourSolution"]) <= 4
        assert set("".join(payload["ourSolution"])) == set("".join(payload["sides"]))
        assert answer(invoke, "solve", write(payload))["value"] == len(payload["ourSolution"])
    assert out == invoke(*words)[1]


@pytest.mark.parametrize(
    "value", [TILES, TILES["tiles"], to_page(TilesPuzzle(tiles=tuple(map(tuple, TILES["tiles"]))))]
)
def test_tiles_are_recognised_and_cleared(invoke: Invoke, write: Write, value: Any) -> None:
    file = write(value)
    found = answer(invoke, "solve", file)
    assert (found["game"], found["ask"], found["rules"]) == ("tiles", "first", "teleports=yes")
    puzzle = TilesPuzzle.from_json(TILES)
    check_walk(puzzle, walk_from_json(found["solutions"][0]))
    best = answer(invoke, "solve", file, "--best", "1", "--rule", "teleports=no")
    assert (best["rules"], best["value"]) == ("teleports=no", 4)
    _, out, _ = invoke("solve", file, "--best", "1")
    assert "Found the best solution, 4 moves, in " in out
    assert "Start on tile " in out


def test_generated_tiles_have_numbers_for_names(invoke: Invoke, tmp_path: Path) -> None:
    words = ("--game", "tiles", "--days", "2", "--out", "boards", "--json")
    code, out, _ = invoke("generate", *words)
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["path"], row["date"]) for row in rows] == [
        ("boards/1.json", None), ("boards/2.json", None),
    ]  # fmt: skip
    boards = [json.loads((tmp_path / row["path"]).read_text())["board"] for row in rows]
    assert boards[0] != boards[1]
    assert {len(tile["layers"]) for board in boards for tile in board} == {3}
    assert answer(invoke, "solve", rows[0]["path"])["status"] == "solved"


def test_options_of_several_games_go_to_those_that_have_them() -> None:
    rules = GameRules(lexicon="x", spangram="off", fewest_letters=True)
    pips, strands, letterboxed = rules.among(["pips", "strands", "letterboxed"])
    assert (pips.lexicon, pips.said) == (None, {})
    assert (strands.lexicon, strands.said) == ("x", {"spangram": "off"})
    assert (letterboxed.lexicon, letterboxed.said) == ("x", {"fewest_letters": True})
