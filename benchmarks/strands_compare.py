"""Cover published Strands boards by the paper's engines and by nightgrid, on the same pieces.

`python -m benchmarks.strands_compare [--boards 10] [--seconds 60]`: one core, warm; boards spread
evenly over the archive, the official number of words known. The engines are those of article 004
(backtracking, dancing links, genetic algorithm), each in its module here with what was added to it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from archive.lexicons import default_lexicon, lexicon_from_file
from benchmarks import strands_backtracking, strands_dlx, strands_genetic
from benchmarks.published import archive_folder
from benchmarks.report import Section, finish, seconds
from benchmarks.strands_rows import Rows, rows_of
from solvers.algebra import Ask, Budget, Status
from solvers.lexicon.lexicon import Lexicon
from solvers.registry import game
from solvers.strands.cover import Cover
from solvers.strands.pieces import find_pieces
from solvers.strands.puzzle import Cell, Puzzle
from solvers.strands.rules import Rules

BOARDS = 10
LIMIT_S = 60.0
NIGHTGRID, BACKTRACKING, DLX, GENETIC = ENGINES = (
    "nightgrid",
    "backtracking",
    "dlx",
    "genetic",
)
ASKS = {"first": Ask(kind="first"), "count": Ask(kind="count"), "best(10)": Ask.parse("best(10)")}
Named = frozenset[tuple[str, frozenset[Cell]]]
"""Pieces by letters and cells; the letters of a compound are left out: its cells say them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A published board with its official answer."""

    date: str
    puzzle: Puzzle
    official: Named | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """What one engine made of one board."""

    seconds: float
    finished: bool
    """A cover was found, or it was proven that there is none; for counts: all were counted."""
    covered: float
    """Largest share of the cells that lay covered."""
    cover: Named | None
    count: int | None = None


def boards_of(folder: Path, count: int, lexicon: Lexicon) -> list[Board]:
    """Read so many boards, spread evenly over the dates that have an official answer."""
    payloads = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((folder / "strands").glob("*.json"))
    ]
    payloads = [p for p in payloads if p.get("themeWords") and p.get("startingBoard")]
    count = min(count, len(payloads))
    chosen = [payloads[(2 * i + 1) * len(payloads) // (2 * count)] for i in range(count)]
    return [
        Board(
            date=p["printDate"],
            puzzle=Puzzle(board=tuple(p["startingBoard"]), theme_words=len(p["themeWords"])),
            official=_official(p, lexicon),
        )
        for p in chosen
    ]


def _official(payload: dict[str, Any], lexicon: Lexicon) -> Named | None:
    if not payload.get("themeCoords") or not payload.get("spangramCoords"):
        return None
    paths = {**payload["themeCoords"], payload["spangram"]: payload["spangramCoords"]}
    return frozenset(
        (_letters(word, lexicon), frozenset((r, c) for r, c in path))
        for word, path in paths.items()
    )


def _letters(word: str, lexicon: Lexicon) -> str:
    return word if lexicon.find(word) >= 0 else ""


def _named_rows(rows: Rows, lexicon: Lexicon, chosen: npt.NDArray[np.int64]) -> Named:
    return frozenset(
        ("" if rows.compound[row] else lexicon.word(int(rows.word[row])), rows.cells_of(row))
        for row in chosen
    )


def _named_cover(cover: Cover, lexicon: Lexicon) -> Named:
    return frozenset((_letters(entry.word, lexicon), entry.cells) for entry in cover.entries)


def by_engine(
    search: Callable[[], strands_backtracking.Search], rows: Rows, lexicon: Lexicon, *, count: bool
) -> Try:
    """Run backtracking or dancing links."""
    found = search()
    cover = found.cover
    if cover is not None and not rows.obeys(cover):
        raise SystemExit("an engine returned what is no cover")
    return Try(
        seconds=found.search_s,
        finished=found.complete,
        covered=found.best_cells / int(rows.board).bit_count(),
        cover=None if cover is None else _named_rows(rows, lexicon, cover),
        count=found.count if count and found.complete else None,
    )


def by_evolution(rows: Rows, lexicon: Lexicon, limit_s: float, seed: int) -> Try:
    """Run the genetic algorithm."""
    grown = strands_genetic.evolve(rows, seed=seed, time_limit_s=limit_s)
    if grown.cover is not None and not rows.obeys(grown.cover):
        raise SystemExit("the genetic algorithm returned what is no cover")
    return Try(
        seconds=grown.search_s,
        finished=grown.cover is not None,
        covered=grown.best_cells / int(rows.board).bit_count(),
        cover=None if grown.cover is None else _named_rows(rows, lexicon, grown.cover),
    )


def by_nightgrid(board: Board, rules: Rules, lexicon: Lexicon, ask: Ask, limit_s: float) -> Try:
    """Ask nightgrid, finding of pieces included."""
    strands = game("strands", str(rules), lexicon)
    begun = time.perf_counter()
    outcome = strands.solve(board.puzzle, ask, None, Budget(seconds=limit_s))
    taken = time.perf_counter() - begun
    return Try(
        seconds=taken,
        finished=outcome.status in (Status.SOLVED, Status.UNSOLVABLE),
        covered=float(outcome.status is Status.SOLVED),
        cover=_named_cover(outcome.solutions[0], lexicon) if outcome.solutions else None,
        count=outcome.count if ask.kind == "count" else None,
    )


def measure(
    board: Board, rules: Rules, lexicon: Lexicon, options: argparse.Namespace
) -> dict[tuple[str, str], Try]:
    """Run every engine that is wanted on one board."""
    tries: dict[tuple[str, str], Try] = {}
    if NIGHTGRID in options.engines:
        for name, ask in ASKS.items():
            tries[NIGHTGRID, name] = by_nightgrid(board, rules, lexicon, ask, options.seconds)
    rows = rows_of(board.puzzle, rules, find_pieces(board.puzzle, rules, lexicon))
    limit_s = options.seconds
    if BACKTRACKING in options.engines:
        tries[BACKTRACKING, "first"] = by_engine(
            lambda: strands_backtracking.search(rows, time_limit_s=limit_s),
            rows,
            lexicon,
            count=False,
        )
    if DLX in options.engines:
        for name, most in (("first", 1), ("count", 2**62)):
            tries[DLX, name] = by_engine(
                lambda most=most: strands_dlx.search(rows, most=most, time_limit_s=limit_s),  # type: ignore[misc]
                rows,
                lexicon,
                count=name == "count",
            )
    if GENETIC in options.engines:
        tries[GENETIC, "first"] = by_evolution(rows, lexicon, limit_s, options.seed)
    print(board.date, len(rows), *_progress(tries), sep="  ", file=sys.stderr, flush=True)
    return tries


def _progress(tries: dict[tuple[str, str], Try]) -> list[str]:
    return [
        f"{engine} {ask} {seconds(t.seconds, complete=t.finished)}"
        for (engine, ask), t in tries.items()
    ]


def report(
    boards: list[Board],
    tries: list[dict[tuple[str, str], Try]],
    options: argparse.Namespace,
) -> Section:
    """Lay the measurements out."""
    section = Section(
        name="strands_compare",
        title=f"Covers of {len(boards)} published Strands boards: the article's engines",
        command=options.command,
    )
    by_kind: dict[tuple[str, str], list[tuple[Board, Try]]] = defaultdict(list)
    for board, found in zip(boards, tries, strict=True):
        for kind, one in found.items():
            by_kind[kind].append((board, one))
    rows = []
    for (engine, ask), results in by_kind.items():
        took = [one.seconds for _, one in results]
        finished = sum(one.finished for _, one in results)
        worst = max((one for _, one in results), key=lambda one: one.seconds)
        rows.append(
            (
                f"{engine}, {ask}",
                f"{100 * finished / len(results):.0f} %",
                seconds(statistics.median(took), complete=2 * finished > len(results)),
                seconds(worst.seconds, complete=worst.finished),
                "" if ask == "count" else sum(one.cover is not None for _, one in results),
                ""
                if ask == "count"
                else f"{100 * statistics.mean(one.covered for _, one in results):.1f} %",
                ""
                if ask == "count"
                else sum(one.cover is not None and one.cover == b.official for b, one in results),
            )
        )
    section.table(
        (
            "engine, ask",
            f"finished in {options.seconds:g} s",
            "median s",
            "worst s",
            "covers found",
            "cells covered",
            "official cover returned",
        ),
        rows,
    )
    section.say(
        f"Boards spread evenly over the archive, {boards[0].date} to {boards[-1].date}; lexicon "
        f"{options.lexicon or 'wordfreq'}; rules `{options.rules}`. All engines are compiled with "
        "Numba and work on the same pieces under the same rules, so that the table compares "
        "methods and not languages. nightgrid's times include finding the pieces; the others' "
        "begin when rows and links are ready. `>`: ended by the limit. dlx counts choices of "
        "rows, of which a cover may have several; cells covered: the most that lay covered at "
        "any time, on average. backtracking stops at the first cover in the order of scores. "
        f"Seed of the genetic algorithm: {options.seed}."
    )
    return section


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strands_compare")
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--seconds", type=float, default=LIMIT_S, help="limit of one try")
    parser.add_argument("--lexicon", default="", help="word list file; without: wordfreq")
    parser.add_argument("--rules", default="", help="as str(Rules) writes them; without: defaults")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    options.command = shlex.join(["python", "-m", "benchmarks.strands_compare", *arguments])
    rules = Rules.parse(options.rules)
    options.rules = str(rules)
    lexicon = lexicon_from_file(options.lexicon) if options.lexicon else default_lexicon()
    _warm(rules, lexicon, options)
    boards = boards_of(archive_folder(), options.boards, lexicon)
    tries = [measure(board, rules, lexicon, options) for board in boards]
    finish(report(boards, tries, options), to_results=options.write)


def _warm(rules: Rules, lexicon: Lexicon, options: argparse.Namespace) -> None:
    """Compile every kernel on a board of no consequence."""
    if NIGHTGRID in options.engines:
        game("strands", str(rules), lexicon).warm()
    puzzle = Puzzle(board=("TONE", "ARTS"))
    rows = rows_of(puzzle, rules, find_pieces(puzzle, rules, lexicon))
    strands_backtracking.search(rows, time_limit_s=0)
    strands_dlx.search(rows, time_limit_s=0)
    strands_genetic.evolve(rows, generations=2)


if __name__ == "__main__":
    main()
