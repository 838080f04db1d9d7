"""Commands for Strands: what they ask of the solver, and how they show its answers."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.games import missing_words_hint
from nightgrid.archive.games.strands.payload import read_puzzles
from nightgrid.archive.games.strands.random_boards import THEMES
from nightgrid.archive.words.binding import bind_game
from nightgrid.service.cli.demo import SAMPLES
from nightgrid.service.games.strands.view import draw
from nightgrid.service.options.game_rules import read_rules
from nightgrid.solvers.algebra import MEANT, Ask, Outcome, Statistics, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.placing import place_words
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import cover_to_json

Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]

SAMPLE = SAMPLES["strands"] / "2026-01-01.json"
THEME = THEMES[0]
(PUBLISHED,) = read_puzzles(SAMPLE.read_bytes(), SAMPLE.name)
PUZZLE = PUBLISHED.puzzle
COVER = PUBLISHED.solution


@dataclasses.dataclass
class Asked:
    """The calls of the solver."""

    game: StrandsGame
    puzzle: Any
    ask: Ask


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Solve with the two words of the spangram and the theme words, whatever the lexicon."""
    seen: list[Asked] = []

    def covers(puzzle: Any) -> list[Any]:
        return [
            dataclasses.replace(
                cover,
                spangram=dataclasses.replace(cover.spangram, components=THEME.parts),
                score=-1500,
            )
            for cover in place_words(puzzle, "".join(THEME.parts), THEME.theme_words)
        ]

    def solve(
        self: StrandsGame, puzzle: Any, ask: Ask, part: Any = None, budget: Any = None
    ) -> Any:
        seen.append(Asked(self, puzzle, ask))
        found = covers(puzzle)
        on_progress = getattr(self, "on_progress", None)
        if on_progress is not None:
            on_progress(1, 2)
        return Outcome(
            status=Status.SOLVED if found else Status.UNSOLVABLE,
            count=len(found),
            solutions=() if ask.kind == "count" else tuple(found),
            statistics=Statistics(states=12, kernel_ns=3_000_000),
        )

    class Stream:
        def __init__(self, outcome: Outcome[Any]) -> None:
            self.status, self.reason_code, self.reason = outcome.status, None, ""
            self.truncated, self.statistics = False, outcome.statistics
            self._solutions = outcome.solutions

        def __iter__(self) -> Iterator[Any]:
            return iter(self._solutions)

    monkeypatch.setattr(StrandsGame, "solve", solve)
    monkeypatch.setattr(StrandsGame, "stream", lambda *a: Stream(solve(*a)))
    monkeypatch.setattr(StrandsGame, "warm", lambda self: None)
    return seen


@pytest.fixture
def words(write: Write) -> str:
    return write("\n".join((*THEME.parts, *THEME.theme_words)), "words.txt")


def test_default_is_the_best_cover_drawn(invoke: Invoke, asked: list[Asked], words: str) -> None:
    code, out, err = invoke("solve", str(SAMPLE), "--lexicon", words)
    assert (code, err) == (0, "")
    (one,) = asked
    assert (one.puzzle, one.ask) == (PUZZLE, Ask(kind="best", limit=1))
    assert (one.game.rules, len(one.game.lexicon)) == (str(Rules()), 8)
    first, *_ = out.splitlines()
    assert first.startswith("2026-01-01 “Take an umbrella”: 8 x 6 letters, 6 theme words, puzzle ")
    assert draw(PUZZLE).plain not in out, "the board is drawn once"
    assert "Found the best solution in 3 ms (12 states):" in out
    assert draw(PUZZLE, COVER).plain in out
    assert "Spangram: WEATHER REPORT\n6 theme words: " in out
    assert out.endswith("Score: -15.00\n")


@pytest.mark.parametrize(
    ("options", "ask"),
    [
        ("--best 5", "best(5)"),
        ("--count", "count"),
        ("--first", "first"),
        ("--all", "all"),
        ("--all --limit 3", "all(3)"),
        ("", "best(1)"),
    ],
)
def test_asks_reach_the_solver_and_the_json(
    invoke: Invoke, asked: list[Asked], words: str, options: str, ask: str
) -> None:
    code, out, _ = invoke("solve", str(SAMPLE), "--lexicon", words, *shlex.split(options), "--json")
    answer = json.loads(out)
    assert code == 0
    assert str(asked[0].ask) == answer["ask"] == ask
    assert answer["game"] == "strands"
    assert answer["rules"] == str(Rules())
    assert answer["lexicon_id"] == asked[0].game.lexicon_id
    if ask == "count":
        assert "solutions" not in answer
    else:
        (cover,) = answer["solutions"]
        assert cover["spangram"]["parts"] == list(THEME.parts)
        assert len(cover["theme_words"]) == 6


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ("--rule spangram=one", {"spangram": "one"}),
        ("--rule spangram=off --rule words=any", {"spangram": "off", "words": "any"}),
        ("--rule words=given", {}),
        ("--rule crossing=yes --rule repeats=yes", {"crossing": True, "repeats": True}),
        # Without diagonal steps no two words can cross: the rule has its default.
        ("--rule crossing=yes --rule repeats=yes --rule diagonal=no", {
            "repeats": True, "diagonal": False,
        }),
        ("--rule crossing=no --rule repeats=no --rule diagonal=yes", {}),
        ("--rule min_length=3 --rule compound_parts=4 --rule part_zipf=2.75", {
            "min_letters": 3, "compound_parts": 4, "part_centizipf": 275,
        }),
        ("--rule compound_decades=9.5", {"compound_centibels": 950}),
    ],
)  # fmt: skip
def test_options_switch_the_rules(
    invoke: Invoke, asked: list[Asked], words: str, options: str, rules: dict[str, Any]
) -> None:
    code, _, _ = invoke("solve", str(SAMPLE), "--lexicon", words, *options.split())
    assert code == 0
    assert asked[0].game.bound_rules == Rules(**rules)
    assert asked[0].puzzle == PUZZLE


def test_number_of_words_becomes_part_of_the_puzzle(
    invoke: Invoke, asked: list[Asked], words: str, write: Write
) -> None:
    file = write(list(PUZZLE.board))
    assert invoke("solve", file, "--lexicon", words)[0] == 0
    assert invoke("solve", file, "--lexicon", words, "--rule", "words=6")[0] == 0
    assert [one.puzzle.theme_words for one in asked] == [None, 6]
    assert asked[1].puzzle == PUZZLE


def test_several_best_covers_are_ranked_below_the_first(
    invoke: Invoke, asked: list[Asked], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = StrandsGame.solve

    def twice(self: StrandsGame, *given: Any) -> Any:
        outcome = one(self, *given)
        second = dataclasses.replace(outcome.solutions[0], score=-1612)
        return dataclasses.replace(outcome, count=2, solutions=(*outcome.solutions, second))

    monkeypatch.setattr(StrandsGame, "solve", twice)
    _, out, _ = invoke("solve", str(SAMPLE), "--lexicon", words, "--best", "2")
    assert "Found the best 2 of 2 solutions in " in out
    assert out.count(draw(PUZZLE, COVER).plain) == 1
    ranks = out.splitlines()[-2:]
    assert ranks[0].startswith("1.  -15.00  WEATHER REPORT: ")
    assert ranks[1].startswith("2.  -16.12  WEATHER REPORT: ")


def test_count_draws_the_best_one(invoke: Invoke, asked: list[Asked], words: str) -> None:
    _, out, _ = invoke("solve", str(SAMPLE), "--lexicon", words, "--count")
    assert "Counted 1 solution in 3 ms (12 states). It is:" in out
    assert draw(PUZZLE, COVER).plain in out
    assert [str(one.ask) for one in asked] == ["count", "best(1)"]


def test_show_draws_letters_and_the_official_cover(invoke: Invoke) -> None:
    code, out, err = invoke("show", str(SAMPLE), "--solution")
    assert (code, err) == (0, "")
    assert draw(PUZZLE).plain not in out, "the board is drawn once"
    assert draw(PUZZLE, COVER).plain in out
    assert "Score" not in out
    code, out, _ = invoke("show", str(SAMPLE), "--solution", "--json")
    value = json.loads(out)
    assert value["puzzle"] == PUZZLE.to_json()
    assert value["solution"]["spangram"]["word"] == "WEATHERREPORT"
    assert value["puzzle_id"] == PUZZLE.puzzle_id


@pytest.mark.parametrize(
    "value",
    [
        PUZZLE.to_json(),
        {"board": PUZZLE.board},
        {"startingBoard": PUZZLE.board},
        {"game": "strands", "board": None},
        list(PUZZLE.board),
    ],
)
def test_game_is_recognised_by_the_file(invoke: Invoke, write: Write, value: Any) -> None:
    code, out, _ = invoke("show", write(value), "--json")
    if code == 0:
        assert json.loads(out)["game"] == "strands"
    else:
        assert json.loads(out)["rule"] == "null-puzzle"


def test_game_option_overrides_the_file(invoke: Invoke, write: Write) -> None:
    code, out, _ = invoke("show", write(PUZZLE.to_json()), "--game", "pips", "--json")
    assert (code, json.loads(out)["game"]) == (3, "pips")
    code, _, err = invoke("show", write("<Error>NoSuchKey</Error>"), "--game", "strands")
    assert code == 3
    assert "got XML" in err


def test_contradiction_says_how_to_solve_the_board_alone(invoke: Invoke, write: Write) -> None:
    value = json.loads(SAMPLE.read_text())
    value["spangramCoords"].pop()
    code, _, err = invoke("show", write(value))
    assert code == 3
    assert "remove spangram, themeWords, themeCoords, spangramCoords to solve the board" in err


def test_spangrams_are_counted_while_covers_are_listed(words: str) -> None:
    told: list[tuple[int, int]] = []
    game = bind_game("strands", "", words)
    game.on_progress = lambda done, total: told.append((done, total))
    assert len(list(game.stream(PUZZLE, Ask(kind="all")))) >= 1
    assert [done for done, _ in told] == list(range(told[0][1]))


def test_result_lists_solutions_whose_board_a_lake_has_lost(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    import pyarrow as pa

    from nightgrid.archive.lake.schemas import SOLUTIONS
    from nightgrid.service.cli.ondemand.job_sources import LakeJobs
    from nightgrid.service.cli.ondemand.result import _say_row

    row = {
        "game": "strands", "ask": "best(2)", "puzzle_id": PUZZLE.puzzle_id, "status": "solved",
        "count": 2, "states": 7, "kernel_ns": 3_000_000, "reason": "", "job_id": "j", "run_id": "r",
    }  # fmt: skip
    source = LakeJobs(str(tmp_path))
    about = {name: row[name] for name in ("job_id", "puzzle_id", "game", "ask", "run_id")}
    solutions = [
        {**about, "rank": rank, "solution": json.dumps(cover_to_json(COVER))} for rank in range(2)
    ]
    source.lake.write_table("solutions/r.parquet", pa.Table.from_pylist(solutions, SOLUTIONS))
    _say_row(source, row, PUZZLE.puzzle_id)
    out = capsys.readouterr().out
    assert out.startswith(f"best(2) of puzzle {PUZZLE.puzzle_id}: 2 solutions in 3 ms (7 states)")
    assert out.count("\n0.00  WEATHERREPORT: ") == 2


def test_rules_are_read_by_name_and_given_to_games_that_have_them() -> None:
    assert read_rules(["min-length=5", "crossing=No"]).said == {"min_length": 5, "crossing": False}
    for text in ("words", "none=3"):
        with pytest.raises(
            PermanentError, match=r"^--rule is .*; expected NAME=VALUE, and as NAME"
        ):
            read_rules([text])
    with pytest.raises(PermanentError, match=r"^crossing is 'perhaps'; expected yes or no$"):
        read_rules(["crossing=perhaps"])


def test_a_board_of_ones_own_without_a_cover_says_which_rules_it_has_to_keep(
    invoke: Invoke, write: Write
) -> None:
    board = write({"board": ["CATSAB", "DOGSAB"], "theme_words": 1}, "own.json")
    words = write("cats\ndogs\n", "two.txt")
    for more in ((), ("--all",)):
        code, out, _ = invoke("solve", board, "--lexicon", words, *more)
        assert code == 2
        told = out.splitlines()[-2:]
        assert told[0].startswith("No solution exists: proven in ")
        assert told[1].startswith("No cover that these rules allow has only words of the list; ")
        assert "--rule spangram=off does without a spangram" in told[1]
    code, out, _ = invoke("solve", board, "--lexicon", words, "--json")
    assert (code, "hint" in json.loads(out)) == (2, False)


FOUR = '{"board": ["YOUWEARS", "CATSDOGS"], "theme_words": 2}'
PARTS = ("YO", "UW", "EA", "RS", "CATS", "DOGS")


def test_a_spangram_of_four_words_is_found_without_an_option(invoke: Invoke, write: Write) -> None:
    """Given no cover with three words, Then every ask takes four, unless the rules forbid it."""
    words = ("solve", write(FOUR, "board.json"), "--lexicon", write("\n".join(PARTS), "words.txt"))
    for ask in ((), ("--all",), ("--best", "1")):
        code, out, _ = invoke(*words, *ask)
        assert (code, "Spangram: YO UW EA RS" in out) == (0, True)
    _, out, _ = invoke(*words, "--count", "--json")
    assert json.loads(out)["count"] == 1
    code, out, _ = invoke(*words, "--rule", "compound_parts=3")
    assert code == 2
    assert "--rule compound_parts=4 takes one of up to 4 words" in out


def test_advice_suggests_other_rules_and_words(invoke: Invoke, write: Write) -> None:
    words = ("solve", write(FOUR, "board.json"), "--lexicon", write("CATS", "words.txt"))
    _, out, _ = invoke(*words)
    assert "--rule words=any takes any number of theme words" in out
    _, out, _ = invoke(*words, "--rule", "words=any", "--rule", "spangram=off")
    assert "--rule" not in out
    assert "--lexicon FILE takes words of another list" in out


def test_a_ranking_names_official_words_that_no_list_has() -> None:
    assert COVER is not None
    inner = ((1, 1), (1, 2))
    unknown = dataclasses.replace(COVER.theme_words[0], word="ZORSE", path=inner)
    official = dataclasses.replace(COVER, theme_words=(unknown,))
    assert missing_words_hint(bind_game("strands", ask=MEANT), official) == (
        "the official word ZORSE is not in the word list"
    )
