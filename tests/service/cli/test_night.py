"""`nightgrid nightly` and `demo` in this process: counts, tables, a second night."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import read_reference
from nightgrid.archive.sources.web import Politeness
from nightgrid.service.cli.demo import SAMPLES
from nightgrid.service.games import view
from nightgrid.service.terminal.colour import PIPED_WIDTH_CHARS
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game
from tests.service.scenes import ROOT, STUCK, payload

Invoke = Callable[..., tuple[int, str, str]]
SVG = "{http://www.w3.org/2000/svg}"
PLAIN = ("--inline", "--no-prefect")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for day in (1, 2, 3):
        shutil.copy(SAMPLES["pips"] / f"2026-01-{day:02d}.json", folder)
    return folder


def test_night_counts_everything_and_the_second_one_nothing(
    invoke: Invoke, source: Path, tmp_path: Path
) -> None:
    words = ("nightly", "--source", str(source), "--lake", str(tmp_path / "lake"), *PLAIN)
    code, out, err = invoke(*words)
    assert code == 0
    assert out.startswith("pips: 3 fetched, 9 puzzles, 9 solved, 0 unsolvable, 0 in quarantine, ")
    assert "│" not in out, "the table of figures is for --verbose"
    assert str(tmp_path / "lake" / "gold" / "counts_by_date.parquet") in out
    assert "9 of 9 jobs" in err, "progress goes to standard error"
    code, out, _ = invoke(*words)
    assert code == 0
    assert "pips: 3 fetched, 0 new puzzles (9 already known), 0 in quarantine, " in out
    code, out, _ = invoke(*words, "--verbose")
    assert all(figure in out for figure in ("editions", "wall seconds", "already known"))
    code, out, _ = invoke(*words, "--json")
    report = json.loads(out)
    assert report["attention"] == []
    assert (report["planned"], report["already_known"]) == (0, 9)


def test_dates_bound_the_night(invoke: Invoke, source: Path, tmp_path: Path) -> None:
    code, out, _ = invoke(
        "nightly", "--source", str(source), "--lake", str(tmp_path / "lake"), *PLAIN, "--json",
        "--from", "2026-01-02", "--to", "2026-01-02",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["planned"] == 3


def test_result_draws_solutions_on_the_board_of_the_lake(invoke: Invoke, source: Path) -> None:
    words = ("--source", str(source), "--lake", "lake", "--ask", "first", *PLAIN)
    assert invoke("nightly", *words)[0] == 0
    code, out, _ = invoke("result", "pips/2026-01-01/hard", "--lake", "lake")
    assert code == 0
    (board,) = find_boards(Lake.open("lake"), read_reference("pips/2026-01-01/hard"))
    puzzle = board.published.puzzle
    (solution,) = game("pips").solve(puzzle, Ask(kind="first")).solutions
    assert view("pips").solution(puzzle, solution).plain in out


DEMO_KINDS_MAX = 17
"""Kinds of files after a night of one game: their paths without ids, numbers and dates."""


def test_demo_counts_the_sample_as_solve_does(invoke: Invoke, tmp_path: Path) -> None:
    code, out, _ = invoke("demo", *PLAIN, "--game", "pips", "--json")
    *counts, report = (json.loads(line) for line in out.splitlines())
    assert code == 0
    assert (len(counts), report["solved"]) == (90, 90)
    payload = json.loads((SAMPLES["pips"] / "2026-01-09.json").read_text())
    for row in counts:
        if row["date"] == "2026-01-09":
            puzzle = Puzzle.from_json(payload[row["level"]])
            assert row["count"] == game("pips").solve(puzzle, Ask(kind="count")).count
            assert row["official_solution_valid"] is True
    lake = tmp_path / "var" / "demo" / "lake"
    assert (lake / "gold").is_dir()
    files = [path.relative_to(lake) for path in lake.rglob("*") if path.is_file()]
    kinds = {re.sub(r"[0-9a-f]{16,}|[0-9][0-9-]*|pips", "*", str(path)) for path in files}
    assert len(kinds) <= DEMO_KINDS_MAX, sorted(kinds)


@pytest.fixture
def short_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restrict the demo to the first day of every sample."""
    samples = {}
    for name, folder in SAMPLES.items():
        samples[name] = tmp_path / "samples" / name
        samples[name].mkdir(parents=True)
        shutil.copy(folder / "2026-01-01.json", samples[name])
    monkeypatch.setattr("nightgrid.service.cli.demo.SAMPLES", samples)


def told(text: str) -> list[str]:
    """Read the text of a demo around its board, without the numbers."""
    before, _, rest = text.partition("pips/2026-")
    text = f"{before} {rest[rest.index('Solutions and') :]}"
    text = re.sub(r"var/\S+|\d[\d.,]*( (ns|µs|ms|s)\b)?", "", text)
    return [word.rstrip("s") for word in re.findall("[A-Za-z]+", text)]


@pytest.mark.usefixtures("short_samples")
def test_demo_ends_with_a_board_its_solution_counts_and_the_next_step(invoke: Invoke) -> None:
    code, out, _ = invoke("demo", *PLAIN)
    assert code == 0
    sentences, board, table, end = re.split(r"\n\n(?=pips/|Solutions and|All of it)", out)
    assert [line.split()[:4] for line in sentences.splitlines()] == [
        ["pips:", "1", "fetched,", "3"],
        ["strands:", "1", "fetched,", "1"],
        ["letterboxed:", "1", "fetched,", "1"],
    ]
    (published,) = find_boards(Lake.open("var/demo/lake"), read_reference("pips/2026-01-01/hard"))
    head, drawn = board.split("\n\n", maxsplit=1)
    assert head.startswith("pips/2026-01-01/hard: ")
    solved = published.published.puzzle, published.published.solution
    assert drawn.rstrip() == view("pips").solution(*solved).plain
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines()]
    names = ["Pips, easy", "Pips, medium", "Pips, hard", "Strands", "Letter Boxed"]
    assert [row[:2] for row in rows if row] == [[name, "1"] for name in names]
    picture = ET.parse(ROOT / "docs" / "demo.svg")
    shown = " ".join(element.text or "" for element in picture.iter(f"{SVG}text"))
    assert told(shown) == told(f"$ nightgrid demo --no-prefect {out}"), (
        "run docs/picture.py demo.svg"
    )
    *_, last = end.splitlines()
    words = shlex.split(last.partition(": ")[2])
    assert (words[0], words[1]) == ("nightgrid", "solve")
    code, out, _ = invoke(*words[1:])
    assert code == 0
    count = int(re.search(r"one of ([\d,]+) solution", head)[1].replace(",", ""))
    assert f"Listed {count:,} solution" in out, "what it says to do next works, and says the same"
    _, out, _ = invoke("demo", *PLAIN, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    games = ["pips"] * 4 + ["strands"] * 2 + ["letterboxed"] * 2
    assert [row["game"] for row in rows] == games
    for row in (rows[-4], rows[-2]):
        assert row["official_solution_valid"] is True
    assert (rows[-2]["value"], rows[-2]["official_solution_best"]) == (2, True)
    assert rows[-3]["already_known"] == rows[-1]["already_known"] == 1


def test_empty_folder_is_reported(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    code, out, err = invoke("nightly", "--source", "e", "--lake", "lake", *PLAIN)
    assert code == 5, "a source with nothing in it may be a wrong folder"
    assert "nightgrid: pips: no payload of pips for a day in e\n" in err
    assert "pips: 0 fetched, 0 new puzzles, 0 in quarantine, " in out
    assert "Counts by date" not in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_night_says_so_once(
    invoke: Invoke, source: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def stopped(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)

    monkeypatch.setattr("nightgrid.flows.start.run_night", stopped)
    code, _, err = invoke("nightly", "--source", str(source), "--lake", "lake", *PLAIN)
    assert code == 130
    assert err.splitlines()[-1] == "stopped; the same command continues"


@pytest.fixture
def dead_url() -> str:
    """Return a port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/pips"


def test_source_that_is_down_is_not_a_good_night(
    invoke: Invoke, dead_url: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = Politeness(attempts=1, interval_s=0.0)
    monkeypatch.setattr("nightgrid.archive.sources.web.Politeness", lambda: impatient)
    words = ("--lake", str(tmp_path / "lake"), *PLAIN, "--json")
    code, out, err = invoke("nightly", "--source", dead_url, *words, "--to", "2025-08-19")
    assert code == 1
    assert json.loads(out)["source_failed"] is True
    failures = [line for line in err.splitlines() if line.startswith("not fetched: ")]
    assert len(failures) == 2
    assert failures[0].startswith("not fetched: 2025-08-18: ")
    assert failures[0].endswith("the request failed: connection refused, after 1 attempt")
    assert f"nightgrid: pips: {dead_url} gave nothing: all 2 dates asked for failed" in err
    # The boards of the lake are solved all the same.
    assert invoke("nightly", "--source", str(source), *words)[0] == 0
    code, out, _ = invoke("nightly", "--source", dead_url, *words, "--to", "2025-08-18")
    assert code == 1
    assert json.loads(out)["already_known"] == 9


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Make a folder with the first day of two games, each in a sub-folder."""
    folder = tmp_path / "several"
    for name in ("pips", "letterboxed"):
        (folder / name).mkdir(parents=True)
        shutil.copy(SAMPLES[name] / "2026-01-01.json", folder / name)
    return folder


def test_folder_with_sub_folders_is_a_night_of_several_games(invoke: Invoke, several: Path) -> None:
    words = ("nightly", "--source", str(several), "--lake", "lake", *PLAIN)
    code, out, err = invoke(*words)
    assert code == 0
    pips, letterboxed = out.splitlines()[:2]
    assert pips.startswith("pips: 1 fetched, 3 puzzles, 3 solved, ")
    assert letterboxed.startswith("letterboxed: 1 fetched, 1 puzzle, 1 solved, ")
    assert err.count("1 of 1 jobs") == 1, "what is done is told once"
    assert "skipped" not in err
    for name in ("pips", "letterboxed"):
        assert re.search(rf"^{name}: .* jobs", err, re.MULTILINE), "the line names its game"
    (several / "pipz.txt").touch()
    code, out, err = invoke(*words, "--verbose")
    assert "pips: 1 name in the source skipped (pipz.txt): " in out
    table = [line for line in out.splitlines() if line.startswith(("┃", "│", "└"))]
    assert max(map(len, table)) <= PIPED_WIDTH_CHARS
    code, out, _ = invoke(*words, "--json")
    reports = [json.loads(line) for line in out.splitlines()]
    assert [(r["game"], r["already_known"]) for r in reports] == [("pips", 3), ("letterboxed", 1)]


def night_of(source: Path, invoke: Invoke, *more: str) -> tuple[int, str, str]:
    return invoke("nightly", "--source", str(source), "--lake", "lake", *PLAIN, *more)


def test_a_night_reports_findings_once(invoke: Invoke, source: Path, tmp_path: Path) -> None:
    (source / "2026-01-02.json").write_text("[}")
    stuck = payload(easy=STUCK) | {"printDate": "2026-01-03"}
    (source / "2026-01-03.json").write_text(json.dumps(stuck))
    code, out, _ = night_of(source, invoke)
    assert code == 5
    line, _, first, unsolvable, *rest = out.splitlines()
    assert line.startswith("pips: 3 fetched, 4 puzzles, 3 solved, 1 unsolvable, 3 in quarantine, ")
    assert first == "pips: 1 unsolvable"
    assert unsolvable == "  pips/2026-01-03/easy: proven to have no solution"
    assert rest[1] == "pips: 3 in quarantine"
    broken = "2026-01-02 (2026-01-02.json): not-json: line 1, column 2: expected a JSON object"
    assert f"  {broken}, got '}}'" in rest
    code, out, _ = night_of(source, invoke)
    assert code == 0, "what is told is not told again"
    assert (
        "pips: 3 fetched, 0 new puzzles (4 already known), 0 in quarantine (3 of earlier nights)"
        in out
    )
    for command in ("results --status unsolvable", "quarantine"):
        assert len(invoke("list", *command.split(), "--json")[1].splitlines()) in (1, 3)


def test_a_night_with_only_quarantine_fails_until_that_is_repaired(
    invoke: Invoke, source: Path
) -> None:
    for path in source.iterdir():
        path.write_text("<html>")
    for _ in range(2):
        code, out, err = night_of(source, invoke)
        assert code == 1
        assert "payloads are in quarantine" in err
        assert "pips: 3 in quarantine\n  2026-01-01 (2026-01-01.json): not-json: " in out


def test_names_that_are_not_dates_are_reported_in_one_line(invoke: Invoke, source: Path) -> None:
    for name in ("2026-01-11 copy.json", "20260132.json", "README.md", ".hidden"):
        (source / name).write_text("{}")
    (source / "pipz").touch()
    for _ in range(2):
        code, out, _ = night_of(source, invoke)
        assert code == 0
        first = "2026-01-11 copy.json, 20260132.json, README.md, …"
        assert f"pips: 4 names in the source skipped ({first}): no day of this game, or" in out
    report = json.loads(night_of(source, invoke, "--json")[1])
    assert report["skipped"] == 4
    assert {item["kind"] for item in report["attention"]} == {"skipped"}
    assert [item["name"] for item in report["attention"]][-1] == "pipz"
    (source / "2026-01-04.json").write_text("[}")
    code, out, _ = night_of(source, invoke)
    assert (code, "in the source skipped" in out) == (5, True)


def test_a_long_list_ends_with_the_command_that_has_all_of_it(
    invoke: Invoke, source: Path, tmp_path: Path
) -> None:
    for day in range(4, 16):
        (source / f"2026-01-{day:02d}.json").write_text("[}")
    code, out, _ = night_of(source, invoke)
    assert code == 5
    *shown, more = [line for line in out.splitlines() if line.startswith("  ")]
    assert len(shown) == 10
    command = more.partition(": ")[2]
    assert more == f"  and 2 more: nightgrid list quarantine --game pips --lake {tmp_path}/lake"
    code, out, _ = invoke(*command.split()[1:], "--json")
    assert (code, len(out.splitlines())) == (0, 12)
