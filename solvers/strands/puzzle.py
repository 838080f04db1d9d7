"""The Strands puzzle: a board of letters, and its stated number of theme words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.canonical import canonical_json, digest
from nightgrid.solvers.errors import (
    Faults,
    InvalidPuzzleError,
    check_object,
    json_kind,
    place_of,
)
from nightgrid.solvers.lexicon.spelling import upper
from nightgrid.solvers.sentences import plural

Cell = tuple[int, int]
"""(row, column), 0-based."""

MAX_CELLS = 1 << 16
BOARD_KEYS = ("board", "startingBoard")
"""Keys of the rows in a JSON value: ours, and the published payload's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A validated board. Rows are strings of equal length, one upper-case letter a cell.

    The general instance of article 000, Definition 18: any number of rows and columns, any
    alphabet, even with digits; payloads only have letters. Raises InvalidPuzzleError naming the
    rule and the place that breaks it.
    """

    board: tuple[str, ...]
    theme_words: int | None = None
    """Number of words besides the spangram, None if unknown."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "board", tuple(upper(row) for row in self.board))
        _check_board(self.board, "board")
        _check_theme_words(self.theme_words, self.cell_count, "theme_words")

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self.board)

    @property
    def column_count(self) -> int:
        """Number of columns."""
        return len(self.board[0])

    @property
    def cell_count(self) -> int:
        """Number of cells."""
        return self.row_count * self.column_count

    @property
    def puzzle_id(self) -> str:
        """Hash of the canonical form."""
        return digest("strands", canonical_json(self.to_json()))

    def to_json(self) -> dict[str, Any]:
        """Return the canonical form."""
        value: dict[str, Any] = {"game": "strands", "board": list(self.board)}
        if self.theme_words is not None:
            value["theme_words"] = self.theme_words
        return value

    @classmethod
    def from_json(cls, value: object, place: str = "") -> Puzzle:
        """Validate a JSON value with `board` (or `startingBoard`) and optionally `theme_words`.

        `place` is the path of the value in its document and starts every place that an error names.
        Other keys are ignored.
        """
        given = check_object(value, place)
        key = next((name for name in BOARD_KEYS if given.get(name) is not None), None)
        if key is None:
            raise InvalidPuzzleError(
                "board-missing", place_of(place, "board"), "missing; expected a list of rows"
            )
        at = place_of(place, key)
        rows = given[key]
        if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
            raise InvalidPuzzleError("board-type", at, "expected a list of strings, one for a row")
        board = tuple(upper(row) for row in rows)
        _check_board(board, at)
        words = given.get("theme_words")
        _check_theme_words(words, len(board) * len(board[0]), place_of(place, "theme_words"))
        return cls(board=board, theme_words=words)


def no_letter(found: str, column: int, row: str) -> InvalidPuzzleError:
    """Return the error for a cell of a row that has no letter."""
    return InvalidPuzzleError("letter", row, f"{found!r} at column {column}; expected a letter")


def _check_board(board: tuple[str, ...], place: str) -> None:
    if not board or not board[0]:
        raise InvalidPuzzleError("board-empty", place, "expected at least one row of one letter")
    width = len(board[0])
    if len(board) * width > MAX_CELLS:
        raise InvalidPuzzleError(
            "board-size", place, f"{len(board)} x {width} cells; expected at most {MAX_CELLS} cells"
        )
    faults = Faults()
    for r, row in enumerate(board):
        if len(row) != width:
            message = f"{plural(len(row), 'letter')}; expected {width} as in row 0"
            faults.add(InvalidPuzzleError("row-length", f"{place}[{r}]", message))
        for c, letter in enumerate(row):
            if letter.isspace() or not letter.isprintable():
                faults.add(no_letter(letter, c, f"{place}[{r}]"))
    faults.check()


def _check_theme_words(words: object, cells: int, place: str) -> None:
    if words is None:
        return
    if isinstance(words, bool) or not isinstance(words, int):
        raise InvalidPuzzleError(
            "theme-words", place, f"expected a whole number, got {json_kind(words)}"
        )
    if not 0 <= words <= cells:
        raise InvalidPuzzleError("theme-words", place, f"{words}; expected 0 to {cells}")
