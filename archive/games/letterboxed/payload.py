"""Parse Letter Boxed payloads: each becomes a published puzzle or a fault with its place.

The page sets `window.gameData` to an object; the dated endpoint answers with the same object
without the page's additions. All three are accepted: the object, a script that sets it, a page with
such a script. Its facts about the previous day are stored as they are and not trusted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from nightgrid.archive.payloads.envelopes import (
    MAX_TEXT,
    check_game,
    embedded,
    identifier,
    in_input,
    read_one,
    text,
    without,
)
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError, json_kind
from nightgrid.solvers.letterboxed.check import check_chain
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import CHAIN_WORDS_MAX, Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.spelling import upper

GAME = "letterboxed"
LEVELS = ("daily",)
"""A payload has one puzzle, without a name."""
FIRST_DATE = dt.date(2018, 12, 17)
"""The first day of the dated endpoint."""
SIDES = 4
SIDE_LETTERS = 3
"""The size of every published board, whose letters are all distinct."""
MIN_LETTERS = 3
"""Fewest letters of a word in a published dictionary."""
PAR_MAX = SIDES * SIDE_LETTERS
"""More words than letters on a board are rejected: such boards are not published."""

ANY_CHAIN = Rules(chains=CHAIN_WORDS_MAX, min_letters=1)
"""Rules for validating a payload's answer, whether or not it is the best one."""

_LEVEL = LEVELS[0]
_OFFICIAL = "ourSolution"
_YESTERDAY = {"sides": "yesterdaysSides", "solution": "yesterdaysSolution"}
_YESTERDAY_MAX = 64
"""Most sides or words that are kept of a payload's facts about the previous day."""


def read_payload(data: bytes, date: dt.date | None) -> list[Published | Fault]:
    """Parse the payload of a date, or of any date if None: one puzzle or its faults."""
    if data.lstrip()[:1] != b"{":
        inner = embedded(data)
        if inner is None and data.lstrip()[:1] == b"<":
            message = "expected a JSON object, or a page that sets window.gameData"
            return [input_fault("no-game-data", message)]
        data = data if inner is None else inner
    return read_one(data, date, _LEVEL, _read_puzzle, "sides")


def read_puzzles(data: bytes, name: str) -> list[Published | Fault]:
    """Parse a payload, the canonical JSON of a board, or a list of sides.

    `name` is the input's name, appended to every fault's message. Unlike `read_payload`, it accepts
    any date, any number of sides and letters and any words, and a payload with nothing but its
    sides.
    """
    return in_input(read_payload(data, None), name, without(_OFFICIAL))


def _read_puzzle(obj: Mapping[str, Any], date: dt.date | None, level: str | None) -> Published:
    check_game(obj, GAME)
    if obj.get("sides") is None:
        raise InvalidPuzzleError("null-puzzle", "sides", "expected a list of sides; there is none")
    puzzle = Puzzle.from_json(obj)
    if level is not None:
        _check_published(puzzle, obj.get("dictionary"))
    return Published(
        date=date,
        level=level,
        puzzle=puzzle,
        solution=_official(puzzle, obj.get(_OFFICIAL)),
        source_id=identifier(obj.get("id"), "id"),
        editor=text(obj.get("editor"), "editor"),
        constructors=text(obj.get("constructors"), "constructors"),
        par=_par(obj.get("par")),
        yesterday=_yesterday(obj),
    )


def _check_published(puzzle: Puzzle, words: Sequence[str] | None) -> None:
    """Validate a board against the common properties of all published ones.

    All 386,400 words in 332 dictionaries can be played on their boards: a dictionary with a word
    that cannot be played belongs to another board.
    """
    if len(puzzle.sides) != SIDES or any(len(side) != SIDE_LETTERS for side in puzzle.sides):
        shape = " ".join(str(len(side)) for side in puzzle.sides)
        raise InvalidPuzzleError(
            "board-size",
            "sides",
            f"sides of {shape} letters; every published board has {SIDES} of {SIDE_LETTERS}",
        )
    side_of = {letter: i for i, side in enumerate(puzzle.sides) for letter in side}
    if len(side_of) < puzzle.letter_count:
        raise InvalidPuzzleError(
            "letter-twice", "sides", "a letter occurs twice; published boards have distinct letters"
        )
    if not words:
        raise InvalidPuzzleError(
            "no-dictionary", "dictionary", "expected the words of the day; there are none"
        )
    wrong = [(i, why) for i, word in enumerate(words) if (why := _unplayable(word, side_of))]
    if wrong:
        i, why = wrong[0]
        more = f"; {len(wrong) - 1} more words cannot be played" if wrong[1:] else ""
        raise InvalidPuzzleError(
            "word-not-playable", f"dictionary[{i}]", f"'{shown(words[i])}' {why}{more}"
        )


def _unplayable(word: str, side_of: Mapping[str, int]) -> str:
    """Explain why a word cannot be played if every letter occurs once, or ""."""
    letters = upper(word)
    if len(letters) < MIN_LETTERS:
        return f"has fewer than {MIN_LETTERS} letters"
    odd = next((letter for letter in letters if letter not in side_of), None)
    if odd is not None:
        return f"has {odd!r}, which is not on the board"
    if any(side_of[a] == side_of[b] for a, b in pairwise(letters)):
        return "has two letters of one side in a row"
    return ""


def _official(puzzle: Puzzle, value: Any) -> Chain | None:
    """Parse the official answer, which has to be a solution from the board's own dictionary."""
    if value is None:
        return None
    if not isinstance(value, list) or not value or not all(isinstance(w, str) for w in value):
        raise InvalidPuzzleError("solution-type", _OFFICIAL, "expected a list of words or null")
    chain = Chain(words=tuple(map(upper, value)))
    known = None if puzzle.dictionary is None else frozenset(puzzle.dictionary)
    for i, word in enumerate(chain.words):
        if known is not None and word not in known:
            raise InvalidPuzzleError(
                "solution-word",
                f"{_OFFICIAL}[{i}]",
                f"'{shown(word)}' is not in the dictionary of the board",
            )
    try:
        check_chain(puzzle, ANY_CHAIN, chain)
    except PermanentError as error:
        raise InvalidPuzzleError("solution-wrong", _OFFICIAL, shown(str(error), 120)) from error
    return chain


def _par(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= PAR_MAX:
        got = value if isinstance(value, int | float) else json_kind(value)
        raise InvalidPuzzleError(
            "bad-par", "par", f"expected a number of words from 1 to {PAR_MAX}, got {got}"
        )
    return value


def _yesterday(obj: Mapping[str, Any]) -> str | None:
    """Return the payload's facts about the previous day's edition as JSON, if any."""
    told = {name: obj[key] for name, key in _YESTERDAY.items() if obj.get(key) is not None}
    if not told:
        return None
    return canonical_json(
        {name: value if _is_text_list(value) else None for name, value in told.items()}
    )


def _is_text_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _YESTERDAY_MAX
        and all(isinstance(item, str) and len(item) <= MAX_TEXT for item in value)
    )
