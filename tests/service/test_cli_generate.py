"""`nightgrid generate`, and the sample archive that it made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from archive.pips import Published, read_payload, read_puzzles
from service.nights import SAMPLE
from solvers.pips.check import check_solution

Invoke = Callable[..., tuple[int, str, str]]


def test_bundled_sample_is_what_generate_writes(invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "sample"
    code, _, err = invoke("generate", "--out", str(out))
    assert (code, err) == (0, f"wrote 30 payloads of 3 boards to {out}\n")
    written = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
    shipped = {path.name: path.read_bytes() for path in sorted(SAMPLE.iterdir())}
    assert list(shipped) == [f"2026-01-{day:02d}.json" for day in range(1, 31)]
    assert written == shipped, "run: nightgrid generate --out service/sample/pips --force"


def test_bundled_sample_reads_as_published_payloads() -> None:
    ids = set()
    for path in sorted(SAMPLE.iterdir()):
        found = read_payload(path.read_bytes(), _date(path))
        assert [type(item) for item in found] == [Published] * 3
        for item in found:
            assert isinstance(item, Published)
            assert item.solution is not None
            check_solution(item.puzzle, item.solution)
            ids.add(item.puzzle.puzzle_id)
    assert len(ids) == 90


def _date(path: Path):  # type: ignore[no-untyped-def]
    import datetime as dt

    return dt.date.fromisoformat(path.stem)


def test_standard_output_gets_one_payload_a_line(invoke: Invoke) -> None:
    code, out, _ = invoke("generate", "--days", "3", "--seed", "5", "--level", "loose")
    payloads = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [p["printDate"] for p in payloads] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert all(set(p) == {"printDate", "editor", "loose"} for p in payloads)


def test_options_change_the_mix(invoke: Invoke) -> None:
    words = ["--days", "1", "--level", "loose", "--dominoes", "12", "--rows", "3"]
    _, out, _ = invoke("generate", *words, "--unconstrained", "0.5", "--max-pip", "9")
    (found,) = read_puzzles(out.encode(), "generated")
    assert isinstance(found, Published)
    cells = found.puzzle.cells
    assert (len(cells), max(r for r, _ in cells), max(c for _, c in cells)) == (24, 2, 7)
    empty = sum(len(r.cells) for r in found.puzzle.regions if r.type == "empty")
    assert empty == 12


def test_files_that_hold_something_else_are_kept(invoke: Invoke, tmp_path: Path) -> None:
    words = ["generate", "--days", "1", "--out", str(tmp_path)]
    assert invoke(*words)[0] == 0
    assert invoke(*words)[0] == 0, "the same again is no change"
    path = tmp_path / "2026-01-01.json"
    path.write_text("mine")
    code, _, err = invoke(*words)
    assert code == 3
    assert "--force replaces it" in err
    assert path.read_text() == "mine"
    code, out, _ = invoke(*words, "--force", "--json")
    assert code == 0
    assert json.loads(out)["path"] == str(path)
    assert path.read_text() != "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["2026-01-01.json"], "nothing is left staged"
