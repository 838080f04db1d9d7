"""The public Python API: read a payload, solve a puzzle, draw it, look answers up in a lake.

`import nightgrid` re-exports these names. They are thin: each calls the same module as the command
line, so that Python and the shell give the same answers.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nightgrid.solvers.algebra import Ask, Budget, Outcome
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError

if TYPE_CHECKING:
    import pyarrow as pa

    from nightgrid.solvers.game_contract import Game

_BUDGET = Budget()
_GAMES_MAX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One validated puzzle of a payload, with the payload's facts about it."""

    game: str
    """Name of the game: pips, strands, letterboxed or tiles."""
    puzzle: Any
    """The game's own frozen value, for example `nightgrid.solvers.pips.puzzle.Puzzle`."""
    date: dt.date | None = None
    level: str | None = None
    clue: str | None = None
    """Text shown to the player with the board: the clue of Strands."""
    official: Any = None
    """The payload's own solution, or None. `solve` never uses it."""

    @property
    def puzzle_id(self) -> str:
        """Hash of the puzzle's canonical form: 32 hexadecimal digits."""
        from nightgrid.solvers.registry import game

        return game(self.game).puzzle_id(self.puzzle)


def read(
    payload: str | PathLike[str] | bytes | Mapping[str, Any],
    *,
    game: str | None = None,
    level: str | None = None,
    on_fault: Literal["raise", "skip"] = "raise",
) -> list[Board]:
    """Read every puzzle of a payload, in the order of its levels, or of a file of payloads.

    `payload` is the path of a file, the bytes of one, or a JSON object. The game is detected from
    the boards unless `game` names it. With `level`, only that puzzle is read. With
    `on_fault="skip"`, puzzles that break a rule of their game are left out. Otherwise raises
    InvalidPuzzleError for the first such puzzle, and PermanentError for input that is unreadable or
    lacks the level.
    """
    from nightgrid.archive.payloads.bounded_files import unpacked
    from nightgrid.archive.payloads.published import Fault
    from nightgrid.archive.sources.payloads_in_file import items_in, read_item

    data, name = _bytes_of(payload)
    parts = (read_item(part, name, game) for part in items_in(unpacked(data, name), name))
    boards = []
    items = [(played, item) for played, found in parts for item in found]
    for played, item in items:
        if level is not None and item.level not in (None, level):
            continue
        if isinstance(item, Fault):
            if on_fault == "skip":
                continue
            raise InvalidPuzzleError(item.rule, item.place, item.message)
        boards.append(
            Board(
                game=played,
                puzzle=item.puzzle,
                date=item.date,
                level=item.level,
                clue=item.clue,
                official=item.solution,
            )
        )
    if level is not None and level not in {item.level for _, item in items}:
        raise PermanentError(f"no level {level!r} in {name}")
    return boards


def solve(
    board: Board,
    ask: str | Ask = "first",
    *,
    rules: str = "",
    words: str | PathLike[str] | Iterable[str] | None = None,
    budget: Budget | None = None,
) -> Outcome[Any]:
    """Answer an ask for one board in this process.

    `ask` is "first", "count", "all", "all(LIMIT)", "best(K)" or "meant(K)", which uses the board's
    clue. `rules` are the NAME=VALUE of --rule, separated by spaces, or the rules of an answer.
    `words` is a word list for a word game: the path of a file, or the words themselves. Without it,
    the board's own words are used, else the default English lexicon. The outcome is `over_budget`
    if the budget runs out first; None is the default budget. Raises PermanentError for an ask,
    rules or words that the game does not have.
    """
    puzzle, rules = _ruled(board, rules) if rules else (board.puzzle, "")
    own_words = getattr(puzzle, "dictionary", None) is not None
    if words is None:
        asked, bound = _usual(board.game, own_words, ask, rules)
    else:
        asked = _asked(board.game, ask)
        bound = _bound(board.game, own_words, rules, words, asked)
    return bound.solve(bound.clued(puzzle, board.clue), asked, None, budget or _BUDGET)


def draw(board: Board, solution: Any = None, *, svg: bool = False) -> str:
    """Draw a board, with a solution of it if one is given.

    Returns text for a terminal, or the text of an SVG file. Raises PermanentError for a game
    without this kind of drawing.
    """
    from nightgrid.service.games import view

    shown = view(board.game)
    if svg:
        return shown.svg(board.puzzle, solution, board.clue)
    if solution is None:
        return shown.board(board.puzzle).plain
    return shown.solution(board.puzzle, solution).plain


class Lake:
    """The tables of a lake, as Arrow tables with explicit schemas (docs/reference/lake.md).

    `url` is a folder, or s3://, gs:// or az://BUCKET/PREFIX. Reading creates nothing. Raises
    PermanentError for any other URL and for a damaged table, TransientError if the storage does not
    answer.
    """

    def __init__(self, url: str | PathLike[str]) -> None:
        from nightgrid.archive.lake.storage import Lake as Files

        self._files = Files.open(str(url))

    def __repr__(self) -> str:
        return f"nightgrid.Lake({self._files.url!r})"

    def view(self, name: str, columns: Collection[str] | None = None) -> pa.Table:
        """Read a view: the rows that count, each once, with all or some columns.

        `nightgrid query --views` lists the views. Raises PermanentError for an unknown view or
        column.
        """
        from nightgrid.archive.views.catalogue import view_named

        return view_named(name).read(self._files, columns)

    def query(self, sql: str, *, seconds: float = 60.0, memory_mb: int = 1024) -> pa.Table:
        """Answer one SELECT over the views, as `nightgrid query` does.

        Raises PermanentError for bad SQL, and for a query that exceeds these limits.
        """
        import pyarrow as pa

        from nightgrid.archive.views.sql import Bounds, ask

        bounds = Bounds(seconds=seconds, memory_bytes=memory_mb * 2**20)
        answer = ask(self._files, sql, bounds)
        return pa.concat_tables([answer.schema.empty_table(), *answer.tables])


def _bytes_of(payload: str | PathLike[str] | bytes | Mapping[str, Any]) -> tuple[bytes, str]:
    if isinstance(payload, bytes):
        return payload, "payload"
    if isinstance(payload, Mapping):
        return json.dumps(payload).encode("utf-8"), "payload"
    path = Path(payload)
    try:
        return path.read_bytes(), path.name
    except OSError as error:
        raise PermanentError(f"cannot read {str(path)!r:.200}: {error.strerror}") from error


def _asked(game: str, ask: str | Ask) -> Ask:
    from nightgrid.solvers.registry import check_ask

    asked = ask if isinstance(ask, Ask) else Ask.parse(ask)
    check_ask(asked, game)
    return asked


def _ruled(board: Board, rules: str) -> tuple[Any, str]:
    """Return the puzzle with the options that belong to it, and the line that the game parses."""
    from nightgrid.service.games import service_plug
    from nightgrid.service.options.game_rules import read_rules
    from nightgrid.solvers.registry import check_rules

    try:
        check_rules(rules, board.game)
    except PermanentError:
        given = read_rules(rules.split())
        line = given.rules(board.game)
        return service_plug(board.game).with_rules(board.puzzle, given.said), line
    return board.puzzle, rules


@lru_cache(_GAMES_MAX)
def _usual(game: str, own_words: bool, ask: str | Ask, rules: str) -> tuple[Ask, Game[Any, Any]]:
    """Return what is asked and the game that answers it, the same object for the same question."""
    asked = _asked(game, ask)
    return asked, _bound(game, own_words, rules, None, asked)


def _bound(
    game: str,
    own_words: bool,
    rules: str,
    words: str | PathLike[str] | Iterable[str] | None,
    ask: Ask,
) -> Game[Any, Any]:
    """Bind a game to its rules, and a word game to its words."""
    from nightgrid.archive.words.binding import bind_game, lexicon_for
    from nightgrid.solvers.lexicon.compile import compile_lexicon
    from nightgrid.solvers.lexicon.wordlist import read_word_list

    if ask.kind == "meant":
        if words is not None:
            raise PermanentError(f"{ask} has words of its own; give it none")
        return bind_game(game, rules, ask=ask)
    if isinstance(words, (str, PathLike)):
        return bind_game(game, rules, str(words))
    lexicon = None
    if words is not None:
        lexicon = compile_lexicon(read_word_list("\n".join(words).encode("utf-8"), "words"))
    return bind_game(game, rules, lexicon or lexicon_for(game, own_words=own_words))


__all__ = ["Board", "Lake", "draw", "read", "solve"]
