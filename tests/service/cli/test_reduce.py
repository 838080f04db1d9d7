"""`nightgrid reduce`: instances in, boards and mapped-back answers out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.solvers.pips.puzzle import Puzzle

Invoke = Callable[..., tuple[int, str, str]]
UNSOLVABLE = "c order 1 2 3 4\nc sides + + - -\np cnf 4 4\n1 2 3 0\n1 3 4 0\n1 2 4 0\n2 3 4 0\n"
"""Every three of four variables: no choice makes one of each three true."""


@pytest.fixture
def formula(tmp_path: Path) -> str:
    path = tmp_path / "formula.cnf"
    path.write_text("c order 1 2 3 4\nc sides + -\np cnf 4 2\n1 2 3 0\n2 3 4 0\n")
    return str(path)


def test_a_formula_becomes_a_board_and_its_solution_an_assignment(
    invoke: Invoke, formula: str, tmp_path: Path
) -> None:
    out, svg = tmp_path / "board.json", tmp_path / "board.svg"
    words = ["reduce", "planar-pips", formula, "--out", str(out), "--svg", str(svg), "--solve"]
    code, text, _ = invoke(*words, "--json")
    answer = json.loads(text)
    assert (code, answer["status"]) == (0, "solved")
    true = {literal for literal in answer["answer"] if literal > 0}
    assert len(true & {1, 2, 3}) == len(true & {2, 3, 4}) == 1
    board = json.loads(out.read_text())
    assert board == answer["puzzle"]
    assert Puzzle.from_json(board).puzzle_id == answer["puzzle_id"]
    assert svg.read_text().startswith("<svg ")
    code, text, _ = invoke("solve", str(out), "--first", "--json")
    assert (code, json.loads(text)["status"]) == (0, "solved")


def test_a_formula_that_cannot_be_satisfied_exits_with_2(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "formula.cnf"
    path.write_text(UNSOLVABLE)
    code, text, _ = invoke("reduce", "planar-pips", str(path), "--solve")
    assert code == 2
    assert "Unsolvable in" in text


def test_a_board_is_solved_with_the_words_that_it_came_with(invoke: Invoke, tmp_path: Path) -> None:
    grid, board, words = (tmp_path / name for name in ("grid", "board.json", "words.txt"))
    grid.write_text("A..B\nA..B\n")
    reduced = ("reduce", "flow-strands", str(grid), "--out", str(board))
    code, text, _ = invoke(*reduced, "--solve")
    assert code == 0
    last = text.splitlines()[-2:]
    assert last[0] == last[1]
    assert last[0] in {"AAAB", "AABB", "ABBB"}
    words.write_text("\n".join(json.loads(invoke(*reduced, "--json")[1])["words"]))
    rules = [
        "--rule",
        "spangram=off",
        "--rule",
        "words=any",
        "--rule",
        "crossing=yes",
        "--rule",
        "repeats=yes",
        "--rule",
        "min_length=1",
    ]
    code, text, _ = invoke(
        "solve", str(board), "--lexicon", str(words), *rules, "--count", "--json"
    )
    assert (code, json.loads(text)["count"]) == (0, 3)


def test_random_instances_are_written_as_they_are_read(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "sum.txt"
    code, drawn, _ = invoke("reduce", "sum-pips", "--random", "8", "--seed", "5", "--json")
    assert code == 0
    path.write_text(json.loads(drawn)["instance"])
    code, read, _ = invoke("reduce", "sum-pips", str(path), "--json")
    assert (code, json.loads(read)) == (0, json.loads(drawn))
    assert path.read_text().startswith("p subset-sum 8 ")
