"""Parse Strands payloads: each becomes a published puzzle or a fault with its place.

Two versions exist. The older one has neither `themeWords` nor `spangramCoords`: its theme words are
the keys of `themeCoords`, and its spangram lies on the cells that they leave. In the newer one any
of the three may be null. The official answer is a Cover of score 0; where the payload names words
without their cells, it is the one cover that these words make, and if they do not make exactly one,
the paths that are not known are empty.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nightgrid.archive.payloads.envelopes import (
    check_game,
    identifier,
    in_input,
    read_one,
    text,
    without,
)
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.solvers.errors import Faults, InvalidPuzzleError
from nightgrid.solvers.lexicon.spelling import upper
from nightgrid.solvers.strands.placing import (
    Path,
    TooManySteps,
    cover_of,
    place_words,
    touches_opposite_sides,
)
from nightgrid.solvers.strands.puzzle import BOARD_KEYS, Puzzle, no_letter
from nightgrid.solvers.strands.solution import Cover, Entry

GAME = "strands"
LEVELS = ("daily",)
"""A payload has one puzzle, without a name."""
FIRST_DATE = dt.date(2024, 3, 4)
"""The day of the first published puzzle."""
ROWS = 8
COLUMNS = 6
"""The size of every published board."""

_LEVEL = LEVELS[0]
_BOARD = "startingBoard"
_OFFICIAL = ("spangram", "themeWords", "themeCoords", "spangramCoords")


def read_payload(data: bytes, date: dt.date | None) -> list[Published | Fault]:
    """Parse the payload of a date, or of any date if None: one puzzle or its faults.

    An XML document, the older endpoint's answer for a missing date, is one fault.
    """
    if data.lstrip()[:1] == b"<":
        message = "expected a JSON object, got XML: there is no puzzle for this date"
        return [input_fault("xml-answer", message)]
    return read_one(data, date, _LEVEL, _read_puzzle, "board")


def read_puzzles(data: bytes, name: str) -> list[Published | Fault]:
    """Parse a payload, the canonical JSON of a board, or a list of rows.

    `name` is the input's name, appended to every fault's message. Unlike `read_payload`, it accepts
    any date and any size, and a payload with nothing but its board.
    """
    return in_input(read_payload(data, None), name, without(*_OFFICIAL))


def _read_puzzle(obj: Mapping[str, Any], date: dt.date | None, level: str | None) -> Published:
    check_game(obj, GAME)
    if all(obj.get(key) is None for key in BOARD_KEYS):
        raise InvalidPuzzleError("null-puzzle", _BOARD, "expected a list of rows; there is none")
    board = _lettered(obj)
    if level is not None and (board.row_count, board.column_count) != (ROWS, COLUMNS):
        raise InvalidPuzzleError(
            "board-size",
            _BOARD,
            f"{board.row_count} x {board.column_count} cells; every published board has "
            f"{ROWS} x {COLUMNS}",
        )
    official = _Official(board, obj)
    count = None if official.theme_words is None else len(official.theme_words)
    puzzle = board if count is None else Puzzle(board=board.board, theme_words=count)
    return Published(
        date=date,
        level=level,
        puzzle=puzzle,
        solution=official.cover(),
        source_id=identifier(obj.get("id"), "id"),
        editor=text(obj.get("editor"), "editor"),
        constructors=text(obj.get("constructors"), "constructors"),
        clue=text(obj.get("clue"), "clue"),
    )


def _lettered(obj: Mapping[str, Any]) -> Puzzle:
    """Parse a board of letters. Searches accept any character, submitted boards do not."""
    board = Puzzle.from_json(obj)
    key = next(key for key in BOARD_KEYS if obj.get(key) is not None)
    faults = Faults()
    for r, row in enumerate(board.board):
        for c, letter in enumerate(row):
            if not letter.isalpha():
                faults.add(no_letter(letter, c, f"{key}[{r}]"))
    faults.check()
    return board


class _Official:
    """A payload's answer, checked against the board and against itself.

    Raises InvalidPuzzleError for any contradiction with the board, the rules or another field.
    """

    def __init__(self, board: Puzzle, obj: Mapping[str, Any]) -> None:
        self._board = board
        self._used: dict[tuple[int, int], str] = {}
        self.spangram = _word(obj.get("spangram"), "spangram")
        coords = _theme_coords(obj.get("themeCoords"))
        self.theme_words = self._theme_words(obj, coords)
        self.paths: dict[str, Path] = {}
        if coords is not None:
            for word, value in coords.items():
                self.paths[word] = self._path(value, word, f"themeCoords.{shown(word)}")
        if obj.get("spangramCoords") is not None:
            place = "spangramCoords"
            if self.spangram is None:
                raise InvalidPuzzleError(
                    "missing-spangram", "spangram", f"{place} is there, but not its word"
                )
            path = self._path(obj[place], self.spangram, place)
            if not touches_opposite_sides(path, board):
                raise InvalidPuzzleError(
                    "spangram-sides", place, "expected cells on two opposite sides of the board"
                )
            self.paths[self.spangram] = path

    def cover(self) -> Cover | None:
        """Return the official answer; None if the payload does not name all of its words."""
        if self.spangram is None or self.theme_words is None:
            return None
        self._check_letters(self.spangram, self.theme_words)
        words = (self.spangram, *self.theme_words)
        paths: Mapping[str, Path] = self.paths
        if len(paths) < len(words):
            paths = self._placed(self.spangram, self.theme_words)
        entries = [Entry(word=word, path=paths.get(word, ()), components=(word,)) for word in words]
        return cover_of(entries[0], entries[1:])

    def _theme_words(
        self, obj: Mapping[str, Any], coords: Mapping[str, Any] | None
    ) -> tuple[str, ...] | None:
        value = obj.get("themeWords")
        if value is None:
            if coords is not None:
                return self._distinct(tuple(coords), "themeCoords")
            return self._first_solutions(obj.get("solutions"))
        if not isinstance(value, list) or not value:
            raise InvalidPuzzleError("not-a-list", "themeWords", "expected a list of words or null")
        words = []
        for i, item in enumerate(value):
            place = f"themeWords[{i}]"
            word = _word(item, place)
            if word is None:
                raise InvalidPuzzleError("not-a-word", place, "expected a word, got null")
            words.append(word)
        theme_words = self._distinct(tuple(words), "themeWords")
        if coords is not None and set(coords) != set(theme_words):
            odd = min(set(coords) ^ set(theme_words))
            where = "themeCoords" if odd in coords else "themeWords"
            raise InvalidPuzzleError(
                "theme-words-differ",
                "themeCoords",
                f"expected the words of themeWords, but '{shown(odd)}' is in {where} alone",
            )
        return theme_words

    def _distinct(self, words: tuple[str, ...], place: str) -> tuple[str, ...]:
        seen = {self.spangram}
        for word in words:
            if word in seen:
                raise InvalidPuzzleError(
                    "word-twice", place, f"'{shown(word)}' occurs twice; no word may"
                )
            seen.add(word)
        return words

    def _first_solutions(self, value: Any) -> tuple[str, ...] | None:
        """Find the theme words in the list of accepted words, which may start with them.

        The spangram follows them there. In other payloads the list is in alphabetical order, so
        only words that use up the board count.
        """
        if self.spangram is None or not isinstance(value, list) or self.spangram not in value:
            return None
        words = value[: value.index(self.spangram)]
        if not all(isinstance(word, str) for word in words) or len(set(words)) < len(words):
            return None
        letters = Counter("".join((self.spangram, *words)))
        return tuple(words) if words and letters == self._letters() else None

    def _letters(self) -> Counter[str]:
        return Counter("".join(self._board.board))

    def _path(self, value: Any, word: str, place: str) -> Path:
        """Parse the cells of a word: king's moves that spell it, on cells no other word has."""
        if not isinstance(value, list):
            raise InvalidPuzzleError("not-a-list", place, "expected a list of cells")
        if len(value) != len(word):
            raise InvalidPuzzleError(
                "path-length", place, f"{len(value)} cells; expected one for each of {len(word)} "
                "letters"
            )  # fmt: skip
        path: list[tuple[int, int]] = []
        for i, item in enumerate(value):
            at = f"{place}[{i}]"
            r, c = cell = self._cell(item, at)
            letter = self._board.board[r][c]
            if letter != word[i]:
                raise InvalidPuzzleError(
                    "path-letter", at, f"the board has {letter!r} there; expected {word[i]!r}"
                )
            if path and max(abs(r - path[-1][0]), abs(c - path[-1][1])) > 1:
                raise InvalidPuzzleError(
                    "path-step", at, f"{list(cell)} is not a neighbour of {list(path[-1])}"
                )
            if cell in self._used:
                raise InvalidPuzzleError(
                    "cell-twice", at, f"{list(cell)} belongs to '{shown(self._used[cell])}' already"
                )
            self._used[cell] = word
            path.append(cell)
        return tuple(path)

    def _cell(self, value: Any, place: str) -> tuple[int, int]:
        rows, columns = self._board.row_count, self._board.column_count
        if (
            isinstance(value, list)
            and [type(number) for number in value] == [int, int]
            and 0 <= value[0] < rows
            and 0 <= value[1] < columns
        ):
            return (value[0], value[1])
        raise InvalidPuzzleError(
            "bad-cell", place, f"expected [row, column] on the board of {rows} x {columns} cells"
        )

    def _check_letters(self, spangram: str, theme_words: Sequence[str]) -> None:
        letters = Counter("".join((spangram, *theme_words)))
        place = "themeWords"
        if letters.total() != self._board.cell_count:
            raise InvalidPuzzleError(
                "letter-count",
                place,
                f"spangram and theme words have {letters.total()} letters; expected "
                f"{self._board.cell_count}, one a cell",
            )
        if letters != self._letters():
            odd = min((letters - self._letters()) + (self._letters() - letters))
            raise InvalidPuzzleError(
                "letters-differ",
                place,
                f"spangram and theme words have {letters[odd]} times {odd!r}; the board has it "
                f"{self._letters()[odd]} times",
            )

    def _placed(self, spangram: str, theme_words: Sequence[str]) -> Mapping[str, Path]:
        try:
            covers = place_words(self._board, spangram, theme_words, self.paths)
        except TooManySteps:
            return self.paths
        if not covers:
            raise InvalidPuzzleError(
                "words-do-not-fit",
                "themeWords",
                "spangram and theme words cannot be laid on the board together",
            )
        if len(covers) > 1:
            return self.paths
        return {entry.word: entry.path for entry in covers[0].entries}


def _theme_coords(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not value:
        raise InvalidPuzzleError(
            "not-an-object", "themeCoords", "expected an object of words and their cells, or null"
        )
    for word in value:
        _word(word, "themeCoords")
    return value


def _word(value: Any, place: str) -> str | None:
    """Parse a word as on a board: capitals without spaces. Null means no word."""
    if value is None:
        return None
    word = text(value, place)
    if not word or word != upper(word) or any(c.isspace() for c in word):
        got = shown(word) if word else ""
        raise InvalidPuzzleError(
            "not-a-word", place, f"expected a word in capitals without spaces, got '{got}'"
        )
    return word
