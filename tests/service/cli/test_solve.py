"""`nightgrid solve` and `show`: their answers, and errors about bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from nightgrid.service.games.pips.view import draw, list_dominoes
from nightgrid.service.options.shared_options import read_settings
from nightgrid.service.terminal.console import say_drawing
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import HARD, LOOSE
from nightgrid.solvers.pips.puzzle import Puzzle
from tests.service.scenes import BROKEN, PAIR, PAIR_COUNT, STUCK, environment, payload

Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

LOOSE_BOARD = generate(LOOSE, 1)[0].to_json()


def test_count_as_json_is_one_object_a_puzzle(nightgrid: Run, write: Write) -> None:
    file = write(payload(easy=PAIR, hard=PAIR))
    done = nightgrid("solve", file, "--level", "hard", "--count", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (answer,) = [json.loads(line) for line in done.stdout.splitlines()]
    expected = {
        "puzzle_id": Puzzle.from_json(PAIR).puzzle_id,
        "game": "pips",
        "date": "2026-01-05",
        "level": "hard",
        "ask": "count",
        "status": "solved",
        "count": PAIR_COUNT,
        "source": file,
        "reason": "",
    }
    assert expected == {key: answer[key] for key in expected}
    assert type(answer["count"]) is int
    assert all(type(answer[key]) is int for key in ("states", "nodes", "kernel_ns", "table_bytes"))


def test_count_as_text_shows_count_time_and_a_solution_on_its_board(
    invoke: Invoke, write: Write
) -> None:
    code, out, err = invoke("solve", write(payload(easy=PAIR)), "--count")
    assert (code, err) == (0, "")
    assert out.startswith("2026-01-05 easy: 2 dominoes, 2 regions")
    assert draw(Puzzle.from_json(PAIR)).plain not in out, "the board is drawn once"
    assert "┌*" in out, "with its constraints"
    assert "Counted 4 solutions in " in out
    assert out.rstrip().endswith("┘"), "one of the solutions is drawn at the end"


def test_a_board_without_a_solution_is_drawn_by_itself(invoke: Invoke, write: Write) -> None:
    code, out, err = invoke("solve", write(STUCK))
    assert (code, err) == (2, "")
    puzzle = Puzzle.from_json(STUCK)
    assert f"\n{draw(puzzle).plain}\n\nDominoes:\n\n{list_dominoes(puzzle)}\n" in out
    assert out.splitlines()[-1].startswith("No solution exists: proven in ")
    assert invoke("solve", write(STUCK), "--all")[1].count("No solution exists") == 1


def test_first_is_the_default_and_draws_a_solution(invoke: Invoke, write: Write) -> None:
    puzzle, planted = generate(HARD, 3)
    code, out, _ = invoke("solve", write(puzzle.to_json()))
    assert code == 0
    assert "Found a solution in " in out
    code, out, _ = invoke("solve", write(puzzle.to_json()), "--first", "--json")
    answer = json.loads(out)
    assert (answer["ask"], answer["count"], len(answer["solutions"])) == ("first", 1, 1)
    assert (answer["date"], answer["level"]) == (None, None)
    assert len(answer["solutions"][0]) == len(planted)


def test_all_lists_every_solution_and_no_more_than_the_limit(invoke: Invoke, write: Write) -> None:
    file = write(PAIR)
    code, out, _ = invoke("solve", file, "--all", "--json")
    answer = json.loads(out)
    assert (code, answer["count"], answer["truncated"]) == (0, PAIR_COUNT, False)
    assert len({json.dumps(solution) for solution in answer["solutions"]}) == PAIR_COUNT
    _, out, _ = invoke("solve", file, "--all", "--limit", "3", "--json")
    limited = json.loads(out)
    assert (limited["ask"], limited["count"], limited["truncated"]) == ("all(3)", 3, True)
    assert limited["solutions"] == answer["solutions"][:3]


def test_all_as_text_numbers_the_drawings(invoke: Invoke, write: Write) -> None:
    code, out, _ = invoke("solve", write(PAIR), "--all")
    assert code == 0
    assert [f"\n{n}:\n" in out for n in range(1, 6)] == [True] * 4 + [False]
    assert "Listed 4 solutions, all there are, in " in out
    _, out, _ = invoke("solve", write(PAIR), "--all", "--limit", "2")
    assert "Listed 2 solutions in " in out
    assert "there are more" in out


@pytest.mark.parametrize("ask", ["--first", "--count", "--all"])
@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_unsolvable_exits_with_2(invoke: Invoke, write: Write, ask: str, json_: list[str]) -> None:
    code, out, _ = invoke("solve", write(STUCK), ask, *json_)
    assert code == 2
    if json_:
        answer = json.loads(out)
        assert (answer["status"], answer["count"]) == ("unsolvable", 0)
    else:
        assert "No solution exists" in out


@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_over_budget_exits_with_4(
    invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch, json_: list[str]
) -> None:
    monkeypatch.setenv("NIGHTGRID_BUDGET_NODES", "5")
    code, out, _ = invoke("solve", write(LOOSE_BOARD), "--count", *json_)
    assert code == 4
    if json_:
        answer = json.loads(out)
        assert (answer["status"], answer["count"]) == ("over_budget", None)
        assert answer["reason"]
    else:
        assert "Over budget" in out


def test_bad_puzzle_does_not_keep_the_others_from_being_solved(
    invoke: Invoke, write: Write
) -> None:
    file = write(payload(easy=PAIR, medium=BROKEN, hard=STUCK))
    code, out, err = invoke("solve", file, "--count", "--json")
    assert code == 3, "bad input is worse than unsolvable"
    easy, medium, hard = (json.loads(line) for line in out.splitlines())
    assert (easy["status"], easy["count"]) == ("solved", PAIR_COUNT)
    assert (hard["status"], hard["count"]) == ("unsolvable", 0)
    assert (medium["status"], medium["rule"]) == ("invalid", "duplicate-cell")
    assert medium["place"] == "medium.regions[0].indices[1]"
    assert err.count("\n") == 1
    assert "medium.regions[0].indices[1]" in err
    assert "input.json" in err


def test_several_files_are_solved_and_a_missing_one_is_named(invoke: Invoke, write: Write) -> None:
    good = write(PAIR, "good.json")
    code, out, err = invoke("solve", good, "missing.json", good, "--count", "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 3
    assert [a["status"] for a in answers] == ["solved", "invalid", "solved"]
    assert err == "nightgrid: cannot read 'missing.json': No such file or directory\n"


@pytest.mark.parametrize("words", [["-"], []])
def test_standard_input_is_read(nightgrid: Run, words: list[str]) -> None:
    done = nightgrid("solve", *words, "--count", "--json", stdin=json.dumps(PAIR))
    assert done.returncode == 0
    assert json.loads(done.stdout)["count"] == PAIR_COUNT


def test_payloads_of_a_line_each_are_all_read(invoke: Invoke) -> None:
    """As nightgrid generate writes them; a broken line does not affect the others."""
    lines = [json.dumps(PAIR), '{"dominoes": [[', json.dumps(payload(easy=PAIR))]
    Path("lines.json").write_text("\n".join(lines))
    code, out, err = invoke("solve", "lines.json", "--count", "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    sources = [f"lines.json, line {number}" for number in (1, 2, 3)]
    assert [a["source"] for a in answers] == sources
    assert [a["count"] for a in answers] == [PAIR_COUNT, None, PAIR_COUNT]
    assert (code, err.count("\n")) == (3, 1)
    assert err.endswith("(in lines.json, line 2)\n")


@pytest.mark.parametrize("ask", [[], ["--count"], ["--all", "--json"]])
def test_the_budget_that_a_person_gives_reaches_the_solver(
    invoke: Invoke,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    ask: list[str],
) -> None:
    given: list[Budget] = []

    def noting(called: Callable[..., Any]) -> Callable[..., Any]:
        def call(game: Any, puzzle: Any, ask: Any, part: Any, budget: Budget) -> Any:
            given.append(budget)
            return called(game, puzzle, ask, part, budget)

        return call

    for name in ("solve", "stream"):
        monkeypatch.setattr(PipsGame, name, noting(getattr(PipsGame, name)))
    assert invoke("solve", write(payload(easy=PAIR)), *ask, "--seconds", "7")[0] == 0
    assert set(given) == {replace(read_settings().budget, seconds=7.0)}


def test_unexpected_error_is_one_line_too(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    def explode(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr("nightgrid.service.cli.show.say_head", explode)
    code, _, err = invoke("show", write(PAIR))
    assert code == 1
    assert err == (
        "nightgrid: unexpected ZeroDivisionError: a bug of two lines. NIGHTGRID_TRACEBACK=1 shows "
        "where it arose\n"
    )


LOADING = re.compile(rb"solving; kernels[^\n]*\n")
"""The message of a machine that takes more than two seconds to load kernels."""


def test_reader_that_goes_away_ends_the_program_silently(write: Write, tmp_path: Path) -> None:
    file = write(LOOSE_BOARD)
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "nightgrid.service.cli.app",
            "solve",
            file,
            "--all",
            "--limit",
            "20000",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        assert (process.wait(60), LOADING.sub(b"", err)) == (141, b"")


def test_an_answer_that_cannot_be_written_is_a_failure(write: Write, tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m nightgrid.service.cli.app show {write(PAIR)} >&-"
    done = subprocess.run(
        ["sh", "-c", command], stderr=subprocess.PIPE, cwd=tmp_path, env=environment(), check=False
    )
    said = b"nightgrid: standard output is closed; expected a file, a pipe or a terminal\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_show_draws_the_board_and_the_payloads_own_solution(invoke: Invoke, write: Write) -> None:
    from datetime import date

    from nightgrid.solvers.pips.generate.generator import to_payload

    puzzle, solution = generate(HARD, 12)
    file = write(to_payload(date(2026, 1, 5), {"hard": (puzzle, solution)}))
    code, out, _ = invoke("show", file, "--solution")
    assert code == 0
    assert draw(puzzle).plain not in out
    assert draw(puzzle, solution).plain in out
    code, out, _ = invoke("show", file, "--json")
    assert Puzzle.from_json(json.loads(out)["puzzle"]) == puzzle


@pytest.mark.archive
@pytest.mark.parametrize(
    ("date", "expected"),
    [("2025-10-14", 1), ("2025-10-18", 10_464), ("2025-10-28", 166_724), ("2025-09-15", 2_764_800)],
)
def test_published_counts(invoke: Invoke, published: Path, date: str, expected: int) -> None:
    file = str(published / "pips" / f"{date}.json")
    code, out, _ = invoke("solve", file, "--level", "hard", "--count", "--json")
    answer = json.loads(out)
    assert (code, answer["date"], answer["count"]) == (0, date, expected)


def test_a_wrong_solution_is_reported_with_the_way_around_it(invoke: Invoke, write: Write) -> None:
    wrong = {**PAIR, "solution": [[[0, 0], [1, 0]], [[1, 1], [0, 1]]]}
    code, _, err = invoke("solve", write(wrong))
    assert code == 3
    assert "remove solution to solve the board alone" in err


def test_an_empty_setting_is_unset(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LAKE", "BUDGET_NODES", "VAR_DIR", "REDIS_URL"):
        monkeypatch.setenv(f"NIGHTGRID_{name}", "")
    settings = read_settings()
    assert settings.lake == str(tmp_path / "lake")
    assert (settings.budget_nodes, settings.var_dir) == (10**12, None)
    assert invoke("status", "--lake", "")[2] == (
        "nightgrid: --lake is empty; expected a folder or a URL\n"
    )


BOARDS = {
    "pips": PAIR,
    "strands": ["CAT", "XYZ", "DOG"],
    "letterboxed": {"sides": ["TAP", "ERD", "NIL", "YCO"]},
    "tiles": {"tiles": [["A1", "B1"], ["A1", "B1"]]},
}


@pytest.mark.parametrize("game", BOARDS)
def test_show_writes_a_picture_of_every_game(invoke: Invoke, write: Write, game: str) -> None:
    code, out, err = invoke("show", write(BOARDS[game]), "--game", game, "--svg", "board.svg")
    assert (code, err) == (0, ""), out
    text = Path("board.svg").read_text()
    assert text.startswith("<svg ")
    assert "width=" in text


def test_a_board_wider_than_the_terminal_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = Text("#" * 90 + "\n\nWORD")
    say_drawing(drawing)
    assert capsys.readouterr().out == f"{'#' * 90}\n\nWORD\n", "no terminal, no edge"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    say_drawing(drawing)
    said = "(a board of 90 columns is not drawn in 80; --svg FILE draws it)"
    assert capsys.readouterr().out == f"{said}\n\nWORD\n"


def test_a_second_puzzle_for_one_picture_is_refused_before_anything_is_done(
    invoke: Invoke, write: Write
) -> None:
    file = write(payload(easy=PAIR, hard=PAIR))
    for command in ("solve", "show"):
        code, out, err = invoke(command, file, "--svg", "all.svg")
        assert (code, out) == (3, "")
        assert "--svg all.svg takes one puzzle and there are more" in err
        assert "--level" in err
        assert not Path("all.svg").exists()
    assert invoke("show", file, "--svg", "all.svg", "--level", "easy")[0] == 0
    assert Path("all.svg").exists()
