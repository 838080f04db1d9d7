"""`nightgrid generate`, and its sample archive."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.games.pips.payload import read_payload, read_puzzles
from nightgrid.archive.games.strands import payload as strands
from nightgrid.archive.games.strands.random_boards import THEMES
from nightgrid.archive.payloads.published import Published
from nightgrid.service.cli.demo import SAMPLES
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.check import check_solution
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.placing import place_words

Invoke = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("game", "days", "boards"),
    [("pips", 30, "3 boards"), ("letterboxed", 5, "1 board")],
)
def test_bundled_sample_is_the_output_of_generate(
    invoke: Invoke, tmp_path: Path, game: str, days: int, boards: str
) -> None:
    out = tmp_path / "sample"
    code, _, err = invoke("generate", "--game", game, "--out", str(out))
    assert (code, err) == (0, f"wrote {days} payloads of {boards} to {out}\n")
    written = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
    shipped = {path.name: path.read_bytes() for path in sorted(SAMPLES[game].iterdir())}
    assert list(shipped) == [f"2026-01-{day:02d}.json" for day in range(1, days + 1)]
    again = f"nightgrid generate --game {game} --out service/sample/{game}, once that is empty"
    assert written == shipped, f"run: {again}"


def test_bundled_sample_reads_as_published_payloads() -> None:
    ids = set()
    for path in sorted(SAMPLES["pips"].iterdir()):
        found = read_payload(path.read_bytes(), _date(path))
        assert [type(item) for item in found] == [Published] * 3
        for item in found:
            assert isinstance(item, Published)
            assert item.solution is not None
            check_solution(item.puzzle, item.solution)
            ids.add(item.puzzle.puzzle_id)
    assert len(ids) == 90


def test_themes_of_strands_are_laid_out_again_for_every_payload(invoke: Invoke) -> None:
    days = len(THEMES) + 1
    code, out, _ = invoke("generate", "--game", "strands", "--days", str(days), "--seed", "7")
    assert code == 0
    payloads = [json.loads(line) for line in out.splitlines()]
    boards = set()
    for payload in payloads:
        (found,) = strands.read_puzzles(json.dumps(payload).encode(), "generated")
        assert isinstance(found, Published)
        assert len(found.solution.entries) == found.puzzle.theme_words + 1
        if payload["spangramCoords"] is not None:
            assert all(entry.path for entry in found.solution.entries)
        boards.add(found.puzzle.board)
    assert len(boards) == days
    assert payloads[0]["clue"] == payloads[-1]["clue"]


def test_words_of_the_bundled_boards_have_but_one_place() -> None:
    for path in sorted(SAMPLES["strands"].iterdir()):
        (found,) = strands.read_payload(path.read_bytes(), _date(path))
        assert isinstance(found, Published)
        words = [entry.word for entry in found.solution.theme_words]
        assert len(place_words(found.puzzle, found.solution.spangram.word, words)) == 1


def _date(path: Path):  # type: ignore[no-untyped-def]
    import datetime as dt

    return dt.date.fromisoformat(path.stem)


def test_standard_output_gets_one_payload_a_line(invoke: Invoke) -> None:
    code, out, _ = invoke("generate", "--days", "3", "--seed", "5", "--level", "loose")
    payloads = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [p["printDate"] for p in payloads] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert all(set(p) == {"printDate", "editor", "loose"} for p in payloads)


def test_files_that_hold_something_else_are_kept(invoke: Invoke, tmp_path: Path) -> None:
    words = ["generate", "--days", "1", "--out", str(tmp_path)]
    assert invoke(*words)[0] == 0
    assert invoke(*words)[0] == 0, "the same again is no change"
    path = tmp_path / "2026-01-01.json"
    path.write_bytes(b"mine, \xff")
    code, _, err = invoke(*words)
    assert code == 3
    assert "holds something else" in err
    assert path.read_bytes() == b"mine, \xff"
    path.unlink()
    code, out, _ = invoke(*words, "--json")
    assert code == 0
    assert json.loads(out)["path"] == str(path)
    assert [p.name for p in tmp_path.iterdir()] == ["2026-01-01.json"], "nothing is left staged"


def test_boards_have_one_solution_and_the_difficulty_that_is_requested(invoke: Invoke) -> None:
    wanted = ("--unique", "--difficulty", "8-40", "--level", "easy", "--seed", "5")
    code, out, _ = invoke("generate", *wanted, "--days", "3")
    assert code == 0
    for line in out.splitlines():
        (found,) = read_puzzles(line.encode(), "generated")
        assert isinstance(found, Published)
        outcome = game("pips").solve(found.puzzle, Ask(kind="count"))
        assert outcome.count == 1
        assert 8 <= outcome.statistics.states <= 40
    # Boards do not depend on how many are generated at once.
    assert out.startswith(invoke("generate", *wanted, "--days", "1")[1])
    assert invoke("generate", "--unique", "--game", "strands")[0] == 3
    assert invoke("generate", "--difficulty", "9-1")[0] == 3
