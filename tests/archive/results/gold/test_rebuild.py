"""Ranks: the official solution is found by its words and cells among the best covers."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, RANKS, RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH, RANKS_PATH, write_gold
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game

SAMPLE = Path(__file__).parents[4] / "service" / "sample" / "strands"
BEST = Ask(kind="best", limit=3)
ASKS = (Ask(kind="count"), BEST)
STRANDS = game("strands")


@pytest.fixture
def filled(lake: Lake, now: Callable[[], dt.datetime]) -> Lake:
    fetch(lake, FolderSource(SAMPLE), game="strands", now=now)
    normalise(lake, game="strands")
    return lake


def put(lake: Lake, edition: dict[str, Any], status: str, covers: list[Any], run: str) -> None:
    """Write a result of best(3) to the lake."""
    job = question_of(STRANDS, BEST).job_id(edition["puzzle_id"])
    head = {"job_id": job, "puzzle_id": edition["puzzle_id"], "game": "strands", "ask": str(BEST)}
    costs = dict.fromkeys(("states", "nodes", "parts", "kernel_ns", "table_bytes"), 1)
    row = (
        head
        | costs
        | {
            "rules": STRANDS.rules,
            "lexicon_id": "",
            "solver_version": STRANDS.solver_version,
            "status": status,
            "count": len(covers) or None,
            "reason": "",
            "run_id": run,
        }
    )
    lake.write_table(f"results/{run}.parquet", pa.Table.from_pylist([row], RESULTS))
    solutions = [
        head | {"rank": rank, "solution": json.dumps(cover), "run_id": run}
        for rank, cover in enumerate(covers)
    ]
    if solutions:
        path = f"solutions/{run}.parquet"
        lake.write_table(path, pa.Table.from_pylist(solutions, SOLUTIONS))


def test_a_rank_is_found_for_any_path_of_a_word_or_null(
    filled: Lake,
) -> None:
    editions = current_editions(filled, "strands").to_pylist()
    official = [json.loads(edition["official_solution"]) for edition in editions]
    turned = json.loads(editions[0]["official_solution"])
    turned["score"] = -1234
    turned["theme_words"].reverse()
    turned["spangram"]["path"].reverse()
    put(filled, editions[0], "solved", [official[1], turned, official[2]], "r0")
    put(filled, editions[1], "solved", [official[0]], "r1")
    put(filled, editions[2], "over_budget", [], "r2")
    write_gold(filled, STRANDS, ASKS)
    ranks = filled.read_table(RANKS_PATH, RANKS)
    found = [(r["status"], r["best_count"], r["official_rank"]) for r in ranks.to_pylist()]
    assert found == [
        ("solved", 3, 2),
        ("solved", 1, None),
        ("over_budget", None, None),
        ("pending", None, None),
        ("pending", None, None),
    ]


def test_solutions_of_another_run_of_the_same_job_are_not_mixed_in(filled: Lake) -> None:
    (edition, other, *_) = current_editions(filled, "strands").to_pylist()
    put(filled, edition, "solved", [json.loads(edition["official_solution"])], "r0")
    put(filled, edition, "solved", [json.loads(other["official_solution"])] * 2, "r1")
    write_gold(filled, STRANDS, ASKS)
    ranks = filled.read_table(RANKS_PATH, RANKS)
    assert ranks.to_pylist()[0]["best_count"] == 1


def test_there_are_no_ranks_without_the_ask_best(filled: Lake) -> None:
    write_gold(filled, STRANDS)
    assert not filled.exists(RANKS_PATH)


def test_damaged_results_are_skipped_and_reported(filled: Lake) -> None:
    editions = current_editions(filled, "strands").to_pylist()
    put(filled, editions[0], "solved", [], "r0")
    filled.write_bytes("results/r0.parquet", b"PAR1 and nothing else")
    try:
        write_gold(filled, STRANDS, ASKS)
        assert skipped_files()["results/r0.parquet"].startswith("results/r0.parquet is damaged: ")
    finally:
        forget("results/r0.parquet")
    ranks = filled.read_table(RANKS_PATH, RANKS).to_pylist()
    assert ranks[0]["status"] == "pending"


def test_a_board_that_breaks_a_newer_rule_leaves_the_other_rows_of_gold(
    filled: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gold(filled, STRANDS, ASKS)
    before = filled.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    strands = game("strands")
    read, refused = strands.from_arrays, before[1]["puzzle_id"]

    def stricter(arrays: Any, row: int) -> Any:
        puzzle = read(arrays, row)
        if puzzle.puzzle_id == refused:
            raise InvalidPuzzleError("newer-rule", "board", "expected something else")
        return puzzle

    monkeypatch.setattr(strands, "from_arrays", stricter)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "later")
    assert write_gold(filled, strands, ASKS) == ()
    after = filled.read_table(COUNTS_PATH, COUNTS_BY_DATE).to_pylist()
    assert after == [
        row | ({"official_solution_valid": None} if row["puzzle_id"] == refused else {})
        for row in before
    ]
    assert [row["official_solution_valid"] for row in after].count(None) == 1


def test_official_solutions_of_the_same_inputs_are_checked_once(
    filled: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    editions = current_editions(filled, "strands").to_pylist()
    official = json.loads(editions[0]["official_solution"])
    put(filled, editions[0], "solved", [official], "r0")
    write_gold(filled, STRANDS, ASKS)
    before = {path: filled.read_bytes(path) for path in filled.list("gold")}
    with monkeypatch.context() as patch:
        patch.setattr("nightgrid.archive.results.gold.rebuild._rank", None)
        patch.setattr(type(STRANDS), "from_arrays", None)
        write_gold(filled, STRANDS, ASKS)
    assert {path: filled.read_bytes(path) for path in filled.list("gold")} == before
    # The fingerprint of the inputs is a cache: without it, all are checked again.
    for path in filled.list("state"):
        filled.write_bytes(path, b"damaged")
    write_gold(filled, STRANDS, ASKS)
    assert {path: filled.read_bytes(path) for path in filled.list("gold")} == before
    # An answer of another run is checked.
    put(filled, editions[1], "solved", [official], "r1")
    write_gold(filled, STRANDS, ASKS)
    ranks = filled.read_table(RANKS_PATH, RANKS).to_pylist()
    assert [row["best_count"] for row in ranks[:2]] == [1, 1]
