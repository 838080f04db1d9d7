"""The board of a request: parsed, selected by level, bound to rules and words, limited in size.

All routes that take a board share this parser. Faults are problems whose JSON pointers name the
fields, down to the cell if the game's parser knows it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from nightgrid.archive.games import claimed_game, foreign, reader
from nightgrid.archive.lake.faults import NotInLakeError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import read_reference
from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.service.asking import Asked, ask_about
from nightgrid.service.games.plug import OptionError
from nightgrid.service.http.problems import FieldError, Problem, pointer_of, wrong
from nightgrid.service.options.game_rules import RULES, GameRules, rule_value
from nightgrid.service.options.shared_options import DEADLINE_MAX_S
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES, check_ask, game_plug
from nightgrid.workers.driver.progress import clock_time
from nightgrid.workers.runs.plan.plan_pass import expected_s
from nightgrid.workers.settings import Settings

BIG_S = 10_000_000.0
"""Larger estimates are capped: the exact number of seconds is of no use."""
CLUE_CHARS = 500
Puzzle = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "array"}, {"type": "null"}]})
]
"""Accepted types of a board before its game's parser validates it."""


class BoardBody(BaseModel):
    """The body of a request about a board, with its rules."""

    model_config = ConfigDict(extra="forbid", strict=True)

    puzzle: Puzzle = Field(
        default=None, description="A published payload, or a board in its game's own form."
    )
    id: str | None = Field(
        default=None,
        description="Instead of a puzzle: GAME/DATE/LEVEL, a puzzle id or a prefix of one.",
        examples=[f"{DEFAULT_GAME}/2026-01-05/hard"],
    )
    game: str | None = Field(default=None, description="Default: detected from the board.")
    level: str | None = Field(default=None, description="Of a payload with several levels.")
    ask: str | None = Field(
        default=None,
        description="first, count, all, all(LIMIT), best(K) or meant(K). Default: the usual.",
        examples=["count"],
    )
    clue: str | None = Field(
        default=None,
        max_length=CLUE_CHARS,
        description="Clue shown to players, for meant(K). Default: that of the "
        "payload or the lake.",
    )
    rules: dict[str, bool | int | float | str] | None = Field(
        default=None, description="Values of rules, by the names that GET /v1/games has."
    )
    words: list[str] | None = Field(
        default=None, description="Words to play with instead of the default list."
    )


class BudgetBody(BaseModel):
    """Budget of a solve, or of one part of it; each limit at most the service's.

    A board that exceeds it is divided, and each part has it again.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    nodes: int | None = Field(default=None, gt=0, description="Transitions tried.")
    table_bytes: int | None = Field(default=None, gt=0, description="Bytes of tables.")
    seconds: float | None = Field(default=None, gt=0, description="Seconds of kernel time.")


class SolveBody(BoardBody):
    """A question about one board, given by `puzzle` or `id`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": f"{DEFAULT_GAME}/2026-01-05/hard", "ask": "count"}]}
    )

    deadline_s: float | None = Field(
        default=None,
        gt=0,
        le=DEADLINE_MAX_S,
        description="Seconds after which the job expires.",
    )
    budget: BudgetBody | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A board of a request, given or named, and its question."""

    asked: Asked
    clue: str | None
    """The clue of its payload or of the lake."""
    solution: Any
    """The published solution, if the payload or the lake has one."""
    expected_s: float
    """Its game's estimate in seconds."""


def posted_board(
    lake: Lake, body: BoardBody, settings: Settings, *, is_solved: bool = True
) -> Posted:
    """Parse the board of a body.

    Only a solve is limited in its expected time. Raises Problem: 404 for a board that is not in the
    lake, 422 for all other faults.
    """
    if body.game is not None and body.game not in GAMES:
        games = ", ".join(GAMES)
        raise wrong("/game", f"{shown(body.game)!r} is not a game; expected one of {games}")
    if (body.puzzle is None) is (body.id is None):
        raise wrong("", "expected either puzzle or id")
    if body.id is None:
        pointer, (game, found) = "/puzzle", _read(body.puzzle, body.game)
    else:
        pointer, (game, found) = "/id", _look_up(lake, body.id, body.game)
    published = _chosen(found, body.level and body.level.lower())
    ask = _ask(body.ask, game)
    lexicon = _lexicon(body.words, game, ask)
    rules = GameRules(**_said(body.rules or {}))
    clue = published.clue if body.clue is None else body.clue
    try:
        asked = ask_about(game, published.puzzle, ask, rules, clue, lexicon)
    except OptionError as error:
        given = [name for name in error.names if name in rules.said]
        raise wrong(f"/rules/{given[0]}" if given else "/rules", str(error)) from error
    except PermanentError as error:
        raise wrong("/rules" if body.rules else pointer, str(error)) from error
    most_s = settings.http_expected_seconds if is_solved else BIG_S
    seconds = _check_size(asked, pointer, settings.http_board_size, most_s)
    return Posted(asked=asked, clue=published.clue, solution=published.solution, expected_s=seconds)


def budget_of(body: SolveBody, settings: Settings) -> Budget | None:
    """Read the budget of a question, None without one.

    Raises Problem for more than the service allows.
    """
    if body.budget is None:
        return None
    limits = settings.budget.limits
    given = body.budget.model_dump(exclude_none=True)
    for name, value in given.items():
        if value > limits[name]:
            raise wrong(f"/budget/{name}", f"is {value:g}; expected at most {limits[name]:g}")
    return Budget(**limits | given)


def _read(value: Any, game: str | None) -> tuple[str, list[Published | Fault]]:
    if not isinstance(value, (dict, list)):
        expected = "expected an object: a payload, or a board in its own form"
        is_name = isinstance(value, str)
        hint = "; a reference to a board of the lake goes into id" if is_name else ""
        raise wrong("/puzzle", f"{expected}{hint}")
    data = json.dumps(value).encode("ascii")
    of = game or claimed_game(data)
    named = value.get("game") if isinstance(value, dict) else None
    if of is None and isinstance(named, str):
        games = ", ".join(GAMES)
        raise wrong("/puzzle/game", f"{shown(named)!r} is not a game; expected one of {games}")
    if of is None and (what := foreign(data)):
        raise wrong("/puzzle", what, "invalid-puzzle")
    return of or DEFAULT_GAME, reader(of or DEFAULT_GAME).read_puzzles(data, name="")


def _chosen(found: Sequence[Published | Fault], level: str | None) -> Published:
    """Select a puzzle of a payload; faults elsewhere in it do not matter."""
    mine = [item for item in found if level is None or item.level in (None, level)]
    faults = [item for item in mine if isinstance(item, Fault)]
    sound = [item for item in mine if isinstance(item, Published)]
    named = [item for item in sound if item.level == level] or sound
    if len(named) == 1 and not (faults and level is None):
        return named[0]
    if faults:
        raise _invalid(faults)
    levels = [item.level for item in found if item.level is not None]
    has = f"expected one of {', '.join(levels)}" if levels else "the puzzle names no levels"
    if not named:
        raise wrong("/level", f"there is no level {shown(level or '')!r}; {has}")
    raise wrong("/level", f"there are several levels; {has}")


def _invalid(faults: Sequence[Fault]) -> Problem:
    errors = [
        FieldError(pointer=pointer_of(fault.place, "/puzzle"), detail=fault.message)
        for found in faults
        for fault in found.all
    ]
    first = faults[0]
    return Problem("invalid-puzzle", str(first), errors=errors)


def _look_up(lake: Lake, text: str, game: str | None) -> tuple[str, list[Published | Fault]]:
    try:
        boards = find_boards(lake, read_reference(text))
    except NotInLakeError as error:
        # The lake's location is only for those who run the service.
        raise wrong("/id", error.public, "no-such-board") from error
    except PermanentError as error:
        raise wrong("/id", str(error)) from error
    of = boards[0].game
    if game not in (None, of):
        raise wrong("/game", f"{text} is of {of}; expected no other game")
    return of, [board.published for board in boards]


def _ask(text: str | None, game: str) -> Ask:
    try:
        ask = game_plug(game).usual_ask if text is None else Ask.parse(text)
        check_ask(ask, game)
    except PermanentError as error:
        raise wrong("/ask", f"{error!s:.200}") from error
    return ask


def _lexicon(words: list[str] | None, game: str, ask: Ask) -> Lexicon | None:
    if words is None:
        return None
    if not game_plug(game).words:
        raise wrong("/words", f"{game_plug(game).title} is not played with words")
    if ask.kind == "meant":
        raise wrong("/words", f"{ask} has words of its own")
    from nightgrid.solvers.lexicon.compile import compile_lexicon
    from nightgrid.solvers.lexicon.wordlist import WordListError, read_word_list

    try:
        return compile_lexicon(read_word_list("\n".join(words).encode("utf-8", "replace"), "words"))
    except WordListError as error:
        raise wrong(f"/words/{error.line - 1}", error.fault) from error
    except PermanentError as error:
        raise wrong("/words", str(error)) from error


def _check_size(asked: Asked, pointer: str, most: int, most_s: float) -> float:
    """Return the game's estimate for a board, in seconds.

    Raises Problem for a board that is too large, or expected to take too long.
    """
    arrays = asked.bound.to_arrays([asked.puzzle])
    size = int(arrays["size"][0])
    if size > most:
        detail = f"the board's size is {size:,}; expected at most {most:,}"
        raise wrong(pointer, detail, "board-too-large")
    seconds = min(max(float(expected_s(asked.bound, asked.ask, arrays)[0]), 0.0), BIG_S)
    if seconds > most_s:
        detail = (
            f"the board would take about {clock_time(seconds)} of one core; expected at most "
            f"{clock_time(most_s)}"
        )
        raise wrong(pointer, detail, "too-long")
    return seconds


def _said(rules: dict[str, Any]) -> dict[str, Any]:
    """Parse the rules of a request, whose values may be strings like those of --rule."""
    for name in rules:
        if name not in RULES:
            known = ", ".join(RULES)
            raise wrong("/rules", f"{shown(name)!r} is not a rule; expected some of {known}")
    try:
        return {name: rule_value(name, str(value)) for name, value in rules.items()}
    except OptionError as error:
        raise wrong(f"/rules/{error.names[0]}", str(error)) from error
