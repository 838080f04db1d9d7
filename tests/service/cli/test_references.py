"""References, folders, `list`, and jobs by their puzzles."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.service.cli.demo import SAMPLES
from nightgrid.service.terminal.exit_codes import Exit
from tests.service.scenes import PAIR, STUCK, payload

Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]
GAMES = ("pips", "strands", "letterboxed")


@pytest.fixture(scope="session")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of one night over two days of three games."""
    from nightgrid.service.cli.app import main

    folder = tmp_path_factory.mktemp("worked")
    for game in GAMES:
        (folder / "source" / game).mkdir(parents=True)
        for day in ("2026-01-01", "2026-01-02"):
            shutil.copy(SAMPLES[game] / f"{day}.json", folder / "source" / game)
    words = ("--source", str(folder / "source"), "--lake", str(folder / "lake"))
    assert main(("nightly", *words, "--inline", "--no-prefect")) == 0
    return folder


@pytest.fixture
def lake(worked: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> str:
    monkeypatch.setenv("NIGHTGRID_LAKE", str(worked / "lake"))
    return str(worked / "lake")


@pytest.mark.usefixtures("lake")
def test_show_takes_a_date_a_level_and_the_id_that_it_prints(invoke: Invoke) -> None:
    code, out, _ = invoke("show", "pips/2026-01-02", "--json")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["date"], row["level"]) for row in rows] == [
        ("2026-01-02", level) for level in ("easy", "medium", "hard")
    ]
    puzzle_id = rows[2]["puzzle_id"]
    for name in ("pips/2026-01-02/hard", puzzle_id, puzzle_id[:10]):
        code, out, _ = invoke("show", name, "--json")
        assert (code, json.loads(out)) == (0, rows[2] | {"source": name})
    _, out, _ = invoke("show", "pips/2026-01-02", "--level", "EASY", "--json")
    assert json.loads(out)["puzzle_id"] == rows[0]["puzzle_id"]
    _, out, _ = invoke("show", "strands/2026-01-02", "--solution")
    assert "Official solution:" in out


def test_show_draws_each_revision_and_lists_what_changed(invoke: Invoke, tmp_path: Path) -> None:
    source, lake = tmp_path / "source", ("--lake", str(tmp_path / "lake"))
    source.mkdir()
    free, four = PAIR["regions"]
    nightly = ("nightly", "--source", str(source), *lake, "--inline", "--no-prefect")
    for target in (4, 3):
        easy = {**PAIR, "regions": [free, {**four, "target": target}]}
        (source / "2026-01-05.json").write_text(json.dumps(payload(easy=easy)))
        assert invoke(*nightly)[0] in (Exit.OK, Exit.LOOK)
    _, out, _ = invoke("show", "pips/2026-01-05", "--diff", "--json", *lake)
    first, second = map(json.loads, out.splitlines())
    assert (first["revision"], first["changes"]) == (1, [])
    changes = [{"field": "regions[1].target", "before": 4, "after": 3}]
    assert (second["revision"], second["changes"]) == (2, changes)
    code, out, _ = invoke("show", "pips/2026-01-05/easy", "--diff", *lake)
    assert code == 0
    assert "regions[1].target: 4 -> 3" in out
    for row in (first, second):
        number = ("--revision", str(row["revision"]))
        _, out, _ = invoke("show", "pips/2026-01-05/easy", *number, "--json", *lake)
        assert json.loads(out)["puzzle_id"] == row["puzzle_id"]
    for wrong in (("pips/2026-01-05", "--revision", "3"), (str(source), "--diff")):
        assert invoke("show", *wrong, *lake)[0] == Exit.BAD_INPUT


def test_solve_takes_references_and_the_words_of_a_board(
    invoke: Invoke, lake: str, worked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NIGHTGRID_LAKE")
    file = str(worked / "source" / "letterboxed" / "2026-01-02.json")
    rows = []
    for name in ("letterboxed/2026-01-02", file):
        code, out, _ = invoke("solve", name, "--count", "--json", "--lake", lake)
        assert code == 0
        rows.append(json.loads(out))
    assert rows[0]["count"] == rows[1]["count"] > 0
    assert rows[0]["puzzle_id"] == rows[1]["puzzle_id"]


def test_a_file_of_that_name_goes_before_a_reference(
    invoke: Invoke, lake: str, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "pips").mkdir()
    write(PAIR, "pips/2026-01-02")
    write(STUCK, "beef")
    for name, size in (("pips/2026-01-02", 2), ("beef", 1)):
        _, out, _ = invoke("show", name, "--json")
        assert len(json.loads(out)["puzzle"]["dominoes"]) == size


def test_folders_are_solved_in_order_with_boards_of_any_games(
    invoke: Invoke, worked: Path, write: Write, tmp_path: Path
) -> None:
    code, out, _ = invoke("show", str(worked / "source" / "pips"), "--json")
    assert code == 0
    dates = [json.loads(line)["date"] for line in out.splitlines()]
    assert dates == ["2026-01-01"] * 3 + ["2026-01-02"] * 3
    _, out, _ = invoke("show", str(worked / "source"), "--json")
    assert {json.loads(line)["game"] for line in out.splitlines()} == set(GAMES)
    (tmp_path / "mixed").mkdir()
    write(PAIR, "mixed/a.json")
    write({"board": ["ABCD"] * 4}, "mixed/b.json")
    write(payload(easy=STUCK), "mixed/c.json")
    write("not looked at", "mixed/d.txt")
    code, out, _ = invoke("solve", "mixed", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["game"] for row in rows] == ["pips", "strands", "pips"]
    assert code == 2, "over several puzzles the largest counts"
    (tmp_path / "both" / "pips").mkdir(parents=True)
    (tmp_path / "both" / "pips" / "2026-01-01.json").write_text("what")
    code, _, err = invoke("solve", "both")
    assert (code, err.split(", got ")[-1]) == (3, "'what' (in pips/2026-01-01.json)\n")
    (tmp_path / "empty").mkdir()
    code, _, err = invoke("solve", "empty")
    assert code == 3
    assert "'empty' holds no payload; expected files *.json in it" in err


def test_jobs_are_named_by_their_puzzles(invoke: Invoke, lake: str) -> None:
    code, out, _ = invoke("submit", "pips/2026-01-02", "--count")
    assert code == 0, "the lake knows them"
    told = dict(line.split() for line in out.splitlines())
    assert list(told.values()) == [f"pips/2026-01-02/{x}" for x in ("easy", "medium", "hard")]
    code, out, _ = invoke("result", "pips/2026-01-02", "--json")
    assert (code, [json.loads(line)["job_id"] for line in out.splitlines()]) == (0, list(told))
    hard = list(told)[2]
    code, out, _ = invoke("result", hard, "strands/2026-01-01", "--json")
    found = [json.loads(line)["job_id"] for line in out.splitlines()]
    assert (found[0], len(found)) == (hard, 2)
    code, out, err = invoke("result", hard, "--format", "csv")
    assert (code, out) == (3, "")
    assert "--format and --output write solutions; add --solutions" in err
    code, out, _ = invoke("status", "pips/2026-01-02")
    assert out.splitlines() == [f"{job}  done  {name}" for job, name in told.items()]
    code, _, err = invoke("result", "pips/2026-01-02/hard", "tiles/2026-01-01", "what")
    assert code == 3
    assert "which has no date of tiles; a board submitted from a file has its job id" in err
    assert "'what' names no job; expected a job id of 32 hexadecimal digits" in err


def test_puzzles_results_and_quarantine_are_listed(invoke: Invoke, lake: str) -> None:
    code, out, _ = invoke("list", "puzzles", "--game", "pips", "--from", "2026-01-02", "--json")
    assert code == 0
    names = {json.loads(line)["puzzle"] for line in out.splitlines()}
    assert names == {f"pips/2026-01-02/{x}" for x in ("easy", "medium", "hard")}
    for name in names:
        assert invoke("show", name, "--json")[0] == 0
    code, out, _ = invoke("list", "results", "--format", "csv", "--status", "solved")
    assert len(out.splitlines()) == 1 + 6 + 2 + 2
    code, out, _ = invoke("list", "results", "--game", "pips", "--game", "strands")
    assert "strands/2026-01-01/daily" in out
    code, out, err = invoke("list", "quarantine")
    assert (code, out) == (0, "")
    assert err == f"nothing in quarantine of {lake} matches\n"
    none = (0, "", f"no result of {lake} matches\n")
    assert invoke("list", "results", "--status", "poison") == none


def test_an_unsolvable_board_of_strands_names_the_words_that_its_list_lacks(
    invoke: Invoke, worked: Path, write: Write
) -> None:
    words = write("apple\n", "words.txt")
    file = str(worked / "source" / "strands" / "2026-01-01.json")
    official = json.loads(Path(file).read_text())
    code, out, _ = invoke("solve", file, "--lexicon", words)
    assert code == 2
    assert "No solution exists: proven in " in out
    last = out.splitlines()[-1]
    assert last.startswith(f"The official words {official['spangram']}, ")
    assert all(word in last for word in official["themeWords"])
    assert "are not in the word list; --lexicon FILE names another one" in last
    for more in ((), ("--all",), ("--count",)):
        _, out, _ = invoke("solve", file, "--lexicon", words, "--json", *more)
        row = json.loads(out)
        assert row["status"] == "unsolvable"
        assert official["spangram"] in row["hint"]
    # Nothing about words that the list has, or a board without an official cover.
    write("\n".join(w for w in [official["spangram"], *official["themeWords"]]), "words.txt")
    code, out, _ = invoke("solve", file, "--lexicon", words, "--json")
    assert (code, "hint" in json.loads(out)) == (0, False)
    bare = write({"board": official["startingBoard"]}, "bare.json")
    words = write("apple\n", "words.txt")
    code, out, _ = invoke("solve", bare, "--lexicon", words, "--json")
    assert (code, "hint" in json.loads(out)) == (2, False)
