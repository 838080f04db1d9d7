"""Look for the official solution of every Strands board of the archive, and rank it.

python -m benchmarks.kernels.strands_official --every 20
python -m benchmarks.kernels.strands_official --processes 2 --keep ranks.jsonl --json

Found: whether it is one of the exact covers. That takes no list of covers: each official word on
its cells is a piece of the board, some choice of their paths does not cross, and the cover obeys
the rules (nightgrid.solvers.strands.check).

Rank: its place in `best(1000)` under the default score. Covers of equal score stand in the
solver's canonical order, and the official one is counted where it stands there; `equal` says how
many others of its score are before it, so that rank - equal is the best that ties could give it.
Two covers are the same when they have the same words on the same cells.

`--keep` appends a line for every board as soon as it is done, and takes up again where the file
ends. With several processes boards are shared out one by one.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import multiprocessing
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.instruments.boards import published_files
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.games.strands.official import is_same_cover
from nightgrid.archive.games.strands.payload import read_payload
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.words.lexicons import default_lexicon
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.paths import cells_of, cut, spell
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.score import SCORE_NAME, component_costs
from nightgrid.solvers.strands.solution import Cover, Entry

LIST = 1000
"""Covers among which the official one is looked for."""
SHARES = (1, 10, 100, LIST)

Line = dict[str, Any]
_game: StrandsGame | None = None
"""One a process: its lexicon and kernels are opened once."""


def main() -> None:
    """Print the shares of boards whose official solution is found, and how it ranks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, help="take every n-th board")
    parser.add_argument("--from", type=int, default=0, dest="start", help="from the n-th on")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="file of boards done, one a line; taken up again")
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of one board's ranking")
    parser.add_argument("--no-rank", action="store_true", help="only look whether it is found")
    parser.add_argument("--json", action="store_true")
    add_write(parser)
    options = parser.parse_args()
    files = published_files("strands")[options.start :: options.every]
    done = _kept(options.keep, ranked=not options.no_rank)
    todo = [(str(path), options.seconds, not options.no_rank) for path in files
            if path.stem not in done]  # fmt: skip
    started = time.monotonic()
    for count, line in enumerate(_looked_up(todo, options.processes), 1):
        done[line["date"]] = line
        if options.keep:
            with options.keep.open("a") as file:
                file.write(json.dumps(line) + "\n")
        seconds = time.monotonic() - started
        rank = line["rank"] if line["found"] else line["why"]
        print(f"{count}/{len(todo)}  {seconds:.0f} s  {line['date']}  {rank}", file=sys.stderr)
    lines = [done[path.stem] for path in files]
    summary = _summary(lines)
    if options.json:
        print(json.dumps(summary, indent=2))
    else:
        finish(_section(summary), to_results=options.write)


def _kept(path: Path | None, *, ranked: bool) -> dict[str, Line]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    return {
        line["date"]: line
        for line in lines
        if line["score"] == SCORE_NAME and ("status" in line or not line["found"] or not ranked)
    }


def _looked_up(todo: list[tuple[str, float, bool]], processes: int) -> Iterator[Line]:
    if processes == 1:
        yield from map(_look_up, todo)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_look_up, todo)


def _look_up(job: tuple[str, float, bool]) -> Line:
    global _game
    path, seconds, ranked = Path(job[0]), job[1], job[2]
    if _game is None:
        _game = StrandsGame(Rules(), default_lexicon())
        if ranked:
            _game.warm()
    (published,) = read_payload(path.read_bytes(), dt.date.fromisoformat(path.stem))
    line: Line = {
        "date": path.stem,
        "score": SCORE_NAME,
        "found": False,
        "why": "",
        "rank": None,
    }
    if not isinstance(published, Published) or published.solution is None:
        return line | {"why": "the payload names no solution"}
    puzzle, official = published.puzzle, published.solution
    line["why"] = why_missing(puzzle, official, _game)
    line["found"] = not line["why"]
    if not line["found"] or not ranked:
        return line
    started = time.process_time()
    outcome = _game.solve(puzzle, Ask(kind="best", limit=LIST), None, Budget(seconds=seconds))
    line |= {"status": str(outcome.status), "seconds": time.process_time() - started}
    for rank, cover in enumerate(outcome.solutions, 1):
        if is_same_cover(official, cover):
            before = outcome.solutions[: rank - 1]
            equal = sum(other.score == cover.score for other in before)
            line |= {"rank": rank, "equal": equal}
    return line


def why_missing(puzzle: Puzzle, official: Cover, game: StrandsGame) -> str:
    """Say why a cover is not among the exact covers of its board; "" where it is."""
    assert official.spangram is not None
    rules, lexicon = game.bound_rules, game.words_known()
    for entry in official.theme_words:
        if lexicon.find(entry.word) < 0:
            return f"{entry.word} is not in the vocabulary"
    spangram = official.spangram.word
    if lexicon.find(spangram) < 0:
        why = _why_no_compound(spangram, rules, lexicon)
        if why:
            return f"{spangram} is not in the vocabulary, and {why}"
    if not all(entry.path for entry in official.entries):
        return "the payload does not place its words"
    found = game.find(puzzle)
    ways = []
    for entry in official.entries:
        sets = _block_sets(entry, found, lexicon, puzzle, compound=entry is official.spangram)
        if not sets:
            return f"{entry.word} is no piece on its cells"
        ways.append(sets)
    try:
        check_cover(
            puzzle, Rules.parse(f"{rules} ".replace("crossing=no", "crossing=yes")), official
        )
    except PermanentError as error:
        return str(error)
    return "" if rules.crossing or _apart(ways, 0) else "its words cross whatever their paths"


def _why_no_compound(word: str, rules: Rules, lexicon: Lexicon) -> str:
    try:
        parts = cut(word, rules, lexicon)
    except ValueError:
        return f"not run together from 2 to {rules.compound_parts} words that may be parts"
    costs = component_costs(lexicon, rules.part_centizipf)
    cost = sum(int(costs[lexicon.find(part)]) for part in parts)
    if cost <= rules.compound_centibels:
        return ""
    return (
        f"of at most {rules.compound_parts} parts the cheapest, {' '.join(parts)}, cost {cost}; "
        f"the rules allow {rules.compound_centibels}"
    )


def _block_sets(
    entry: Entry, found: Found, lexicon: Lexicon, puzzle: Puzzle, *, compound: bool
) -> list[int]:
    """List the sets of blocks that the paths of a piece close; none where it is no piece."""
    cells = frozenset(r * puzzle.column_count + c for r, c in entry.path)
    for kind, pieces in (("word", found.words), ("compound", found.compounds)):
        if kind == "compound" and not compound:
            continue
        mask = sum(1 << cell - min(cells) for cell in cells)
        for row in ((pieces.low == min(cells)) & (pieces.cells == mask)).nonzero()[0].tolist():
            if spell((kind, row), found, lexicon) == entry.word:
                assert cells_of((kind, row), found) == cells
                sets = pieces.blocks[pieces.block_offsets[row] : pieces.block_offsets[row + 1]]
                return [int(one) << min(cells) for one in sets]
    return []


def _apart(ways: list[list[int]], closed: int) -> bool:
    if not ways:
        return True
    return any(not one & closed and _apart(ways[1:], closed | one) for one in ways[0])


def _summary(lines: list[Line]) -> dict[str, Any]:
    ranked = [line for line in lines if "status" in line]
    ranks = [line["rank"] for line in ranked if line["rank"] is not None]
    boards = len(lines)
    return {
        "score": SCORE_NAME,
        "boards": boards,
        "found": sum(line["found"] for line in lines),
        "misses": {line["date"]: line["why"] for line in lines if not line["found"]},
        "ranked": len(ranked),
        "unfinished": [line["date"] for line in ranked if line["status"] == Status.OVER_BUDGET],
        "first": {str(k): sum(rank <= k for rank in ranks) for k in SHARES},
        "first_without_ties": {
            str(k): sum(line["rank"] is not None and line["rank"] - line["equal"] <= k
                        for line in ranked)
            for k in SHARES
        },
        "seconds": sum(line["seconds"] for line in ranked),
    }  # fmt: skip


def _section(summary: dict[str, Any]) -> Section:
    boards, found = summary["boards"], summary["found"]
    section = Section(
        name="strands-official",
        title=f"Official solutions of {boards} published Strands boards",
        command=command_line("kernels.strands_official"),
    )
    rows = [["among the exact covers", found, f"{found / boards:.1%}", ""]]
    if summary["ranked"]:
        for k in SHARES:
            count, most = summary["first"][str(k)], summary["first_without_ties"][str(k)]
            name = f"among the best {k}" if k > 1 else "first"
            rows.append([name, count, f"{count / boards:.1%}", f"{most / boards:.1%}"])
    section.table(["official solution", "boards", "share", "if it won its ties"], rows)
    section.say(
        f"Score {summary['score']}; covers of one score stand in canonical order. "
        + (f"{summary['seconds']:.0f} s of processor time for the lists. " if rows[1:] else "")
        + (
            f"Over budget: {', '.join(summary['unfinished'])}."
            if summary["unfinished"]
            else "No list was over budget."
        )
    )
    if summary["misses"]:
        section.say("Not among the exact covers, and why:")
        section.say("\n".join(f"- {date}: {why}" for date, why in summary["misses"].items()))
    return section


if __name__ == "__main__":
    main()
