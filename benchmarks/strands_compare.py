"""Cover published Strands boards by the paper's engines and by nightgrid, on the same pieces.

`python -m benchmarks.strands_compare [--boards 6] [--seconds 60]`: one core, warm; boards spread
evenly over the archive, the official number of words known. The engines are those of article 004
(backtracking, dancing links, genetic algorithm), each in its module here with what was added to it.

Two vocabularies: `few`, as the article's engines got it, a list that a ranking has cut down to what
is likely (here: common words and, so that there is a cover to find, the official words, spangrams
being single words); `all`, the default lexicon with compound spangrams.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from archive.lexicons import default_lexicon
from benchmarks import strands_backtracking, strands_dlx, strands_genetic
from benchmarks.published import archive_folder
from benchmarks.report import Section, finish, seconds
from benchmarks.strands_rows import Rows, rows_of
from solvers.algebra import Ask, Budget, Status
from solvers.lexicon.compile import compile_lexicon
from solvers.lexicon.lexicon import Lexicon
from solvers.registry import game
from solvers.strands.cover import Cover
from solvers.strands.pieces import find_pieces
from solvers.strands.puzzle import Cell, Puzzle
from solvers.strands.rules import Rules

BOARDS = 6
LIMIT_S = 60.0
NIGHTGRID, BACKTRACKING, DLX, GENETIC = ENGINES = (
    "nightgrid",
    "backtracking",
    "dlx",
    "genetic",
)
ASKS = {"first": Ask(kind="first"), "all": Ask(kind="count"), "best(10)": Ask.parse("best(10)")}
"""`all` means that every cover was seen: nightgrid counts them without listing."""
FEW, ALL = VOCABULARIES = "few", "all"
COMMON_CENTIZIPF = 200
"""Words of `few` are at least so frequent: one in ten million."""
ALWAYS = 2**62
CLAIMS = {
    (BACKTRACKING, "first"): "about 30 min; 45 min with the number of words; right on 2025-04-10",
    (DLX, "first"): "seconds; a full cover, often off the theme",
    (GENETIC, "first"): "a few minutes; often incomplete or off the theme",
}
"""What article 004, section 5, says of its programs, on boards, words and a machine of its own."""
Named = frozenset[tuple[str, frozenset[Cell]]]
"""Pieces by letters and cells; the letters of a compound are left out: its cells say them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A published board with its official answer."""

    date: str
    puzzle: Puzzle
    paths: dict[str, frozenset[Cell]]
    """The cells of every official word; empty where the payload names none."""

    def official(self, lexicon: Lexicon) -> Named:
        """Name the official cover as covers are named with a lexicon."""
        return frozenset((_letters(word, lexicon), cells) for word, cells in self.paths.items())


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
    official: bool = False
    """Whether the official cover is among those returned."""


def boards_of(folder: Path, count: int) -> list[Board]:
    """Read so many boards, spread evenly over the dates that have an official answer."""
    payloads = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((folder / "strands").glob("*.json"))
    ]
    payloads = [p for p in payloads if p.get("themeCoords") and p.get("spangramCoords")]
    count = min(count, len(payloads))
    chosen = [payloads[(2 * i + 1) * len(payloads) // (2 * count)] for i in range(count)]
    return [
        Board(
            date=p["printDate"],
            puzzle=Puzzle(board=tuple(p["startingBoard"]), theme_words=len(p["themeWords"])),
            paths={
                "".join(filter(str.isalpha, word)): frozenset((r, c) for r, c in path)
                for word, path in {**p["themeCoords"], p["spangram"]: p["spangramCoords"]}.items()
            },
        )
        for p in chosen
    ]


def few_words(lexicon: Lexicon, board: Board) -> Lexicon:
    """Cut a lexicon down to its common words and a board's official ones."""
    common = np.flatnonzero(lexicon.centizipf >= COMMON_CENTIZIPF)
    words = {lexicon.word(int(i)): int(lexicon.centizipf[i]) for i in common}
    for word in board.paths:
        known = lexicon.find(word)
        words.setdefault(word, int(lexicon.centizipf[known]) if known >= 0 else COMMON_CENTIZIPF)
    return compile_lexicon(words.items())


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
    search: Callable[..., strands_backtracking.Search],
    rows: Rows, lexicon: Lexicon, official: Named, limit_s: float, *, every: bool,
) -> Try:  # fmt: skip
    """Run backtracking or dancing links, up to the first cover or through all."""
    found = search(rows, most=ALWAYS if every else 1, time_limit_s=limit_s)
    if found.cover is not None and not rows.obeys(found.cover):
        raise SystemExit("an engine returned what is no cover")
    cover = None if found.cover is None else _named_rows(rows, lexicon, found.cover)
    return Try(
        seconds=found.search_s,
        finished=found.complete,
        covered=found.best_cells / int(rows.board).bit_count(),
        cover=cover,
        count=found.count,
        official=cover == official,
    )


def by_evolution(rows: Rows, lexicon: Lexicon, official: Named, limit_s: float, seed: int) -> Try:
    """Run the genetic algorithm until it meets a cover."""
    grown = strands_genetic.evolve(rows, seed=seed, generations=ALWAYS, time_limit_s=limit_s)
    if grown.cover is not None and not rows.obeys(grown.cover):
        raise SystemExit("the genetic algorithm returned what is no cover")
    cover = None if grown.cover is None else _named_rows(rows, lexicon, grown.cover)
    return Try(
        seconds=grown.search_s,
        finished=grown.cover is not None,
        covered=grown.best_cells / int(rows.board).bit_count(),
        cover=cover,
        official=cover == official,
    )


def by_nightgrid(board: Board, rules: Rules, lexicon: Lexicon, ask: Ask, limit_s: float) -> Try:
    """Ask nightgrid, finding of pieces included."""
    strands = game("strands", str(rules), lexicon)
    begun = time.process_time()
    outcome = strands.solve(board.puzzle, ask, None, Budget(seconds=limit_s))
    taken = time.process_time() - begun
    covers = [_named_cover(cover, lexicon) for cover in outcome.solutions]
    return Try(
        seconds=taken,
        finished=outcome.status in (Status.SOLVED, Status.UNSOLVABLE),
        covered=float(outcome.status is Status.SOLVED),
        cover=covers[0] if covers else None,
        count=outcome.count if ask.kind == "count" else None,
        official=board.official(lexicon) in covers,
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
    limit_s, official = options.seconds, board.official(lexicon)
    searches = {BACKTRACKING: strands_backtracking.search, DLX: strands_dlx.search}
    for engine in options.engines:
        if engine in searches:
            search = searches[engine]
            first = by_engine(search, rows, lexicon, official, limit_s, every=False)
            tries[engine, "first"] = first
            # Who has not met the first cover in time has not met all.
            tries[engine, "all"] = (
                by_engine(search, rows, lexicon, official, limit_s, every=True)
                if first.finished
                else replace(first, official=False)
            )
    if GENETIC in options.engines:
        tries[GENETIC, "first"] = by_evolution(rows, lexicon, official, limit_s, options.seed)
    print(board.date, len(rows), *_progress(tries), sep="  ", file=sys.stderr, flush=True)
    return tries


def _progress(tries: dict[tuple[str, str], Try]) -> list[str]:
    return [
        f"{engine} {ask} {seconds(t.seconds, complete=t.finished)}"
        for (engine, ask), t in tries.items()
    ]


def report(
    boards: list[Board],
    measured: dict[str, list[dict[tuple[str, str], Try]]],
    options: argparse.Namespace,
) -> Section:
    """Lay the measurements out, a table for each vocabulary."""
    section = Section(
        name="strands_compare",
        title=f"Covers of {len(boards)} published Strands boards: the article's engines",
        command=options.command,
    )
    for vocabulary, tries in measured.items():
        section.say(f"Vocabulary `{vocabulary}`, {options.pieces[vocabulary]} rows a board:")
        section.table(
            (
                "engine, ask",
                f"finished in {options.seconds:g} s",
                "median s",
                "worst s",
                "cells covered",
                "official cover returned",
                "article's claim",
            ),
            [_row(kind, [t[kind] for t in tries]) for kind in tries[0]],
        )
    section.say(
        f"Boards spread evenly over the archive, {boards[0].date} to {boards[-1].date}, the number "
        "of theme words given. `few`: words of Zipf frequency "
        f"{COMMON_CENTIZIPF / 100:g} and more with the official words, single-word spangrams; "
        "`all`: the default lexicon, compound spangrams of up to three words. All engines are "
        "compiled with Numba and work on the same pieces under the same rules, so that the table "
        "compares methods and not languages (the article's are in Python). Processor seconds on "
        "one core; nightgrid's include finding the pieces, the others' begin when rows and links "
        "are ready. `>`: ended by the limit. first: to the first cover; all: until every cover is "
        "seen (nightgrid: counted); best(10): the ten of highest score, here is the official one "
        "among them. Cells covered: the most that lay covered at any time, on average. The "
        "genetic algorithm can never say that there is no other cover. Where crossing is "
        "forbidden backtracking and dlx count choices of paths, so only their times are given. "
        f"Seed of the genetic algorithm: {options.seed}. The article's claims (section 5) are "
        "about programs, words and a machine of its own; how much of a board they covered it does "
        "not say."
    )
    return section


def _row(kind: tuple[str, str], tries: list[Try]) -> tuple[object, ...]:
    engine, ask = kind
    finished = sum(one.finished for one in tries)
    middle = statistics.median_high(one.seconds for one in tries)
    worst = max(tries, key=lambda one: one.seconds)
    return (
        f"{engine}, {ask}",
        f"{100 * finished / len(tries):.0f} %",
        seconds(middle, complete=2 * finished > len(tries)),
        seconds(worst.seconds, complete=all(one.finished for one in tries)),
        f"{100 * statistics.mean(one.covered for one in tries):.1f} %",
        "" if ask == "all" else f"{sum(one.official for one in tries)} of {len(tries)}",
        CLAIMS.get(kind, ""),
    )


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strands_compare")
    parser.add_argument("--boards", type=int, default=BOARDS)
    parser.add_argument("--seconds", type=float, default=LIMIT_S, help="limit of one try")
    parser.add_argument("--words", nargs="+", choices=VOCABULARIES, default=list(VOCABULARIES))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    options.command = shlex.join(["python", "-m", "benchmarks.strands_compare", *arguments])
    lexicon = default_lexicon()
    _warm(lexicon, options)
    boards = boards_of(archive_folder(), options.boards)
    measured: dict[str, list[dict[tuple[str, str], Try]]] = {}
    options.pieces = {}
    for vocabulary in options.words:
        few = vocabulary == FEW
        rules = Rules(compound_parts=1) if few else Rules()
        lexicons = [few_words(lexicon, board) if few else lexicon for board in boards]
        sizes = [
            len(rows_of(board.puzzle, rules, find_pieces(board.puzzle, rules, words)))
            for board, words in zip(boards, lexicons, strict=True)
        ]
        options.pieces[vocabulary] = f"{min(sizes):,} to {max(sizes):,}"
        measured[vocabulary] = [
            measure(board, rules, words, options)
            for board, words in zip(boards, lexicons, strict=True)
        ]
    finish(report(boards, measured, options), to_results=options.write)


def _warm(lexicon: Lexicon, options: argparse.Namespace) -> None:
    """Compile every kernel on a board of no consequence."""
    if NIGHTGRID in options.engines:
        game("strands", "", lexicon).warm()
    puzzle = Puzzle(board=("TONE", "ARTS"))
    rows = rows_of(puzzle, Rules(), find_pieces(puzzle, Rules(), lexicon))
    strands_backtracking.search(rows, time_limit_s=0)
    strands_dlx.search(rows, time_limit_s=0)
    strands_genetic.evolve(rows, generations=2)


if __name__ == "__main__":
    main()
