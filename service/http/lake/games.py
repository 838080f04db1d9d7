"""GET /v1/games: the games, their asks, their rules, and an example of each."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from json import dumps
from typing import Any, get_args

from fastapi import APIRouter
from pydantic import BaseModel, Field

from nightgrid.archive.games import has_plug, reader
from nightgrid.archive.payloads.published import Published
from nightgrid.service.games import ALL, service_plug
from nightgrid.service.games.plug import GameOption
from nightgrid.solvers.registry import GAMES, game, game_plug
from nightgrid.solvers.rule_line import RuleLine

router = APIRouter(tags=["games"])

ASKS = ("first", "best", "all", "count", "meant")
_TYPES = {bool: "bool", int: "int", float: "float", str: "str"}
_SAMPLE_DATE = dt.date(2026, 1, 1)


class Rule(BaseModel):
    """A switchable rule."""

    name: str = Field(description="Its key in `rules` of POST /v1/solves.")
    type: str = Field(description="bool, int, float, str or choice.")
    default: bool | int | float | str | None = Field(
        description="The default; null if `help` describes it."
    )
    choices: list[str] | None = Field(description="The values of a choice.")
    help: str


class GameAbout(BaseModel):
    """One game."""

    game: str = Field(description="Its name in the API.")
    title: str = Field(description="Its name for people.")
    levels: list[str] = Field(description="The levels that every published payload has.")
    asks: list[str] = Field(description="Its asks: first, best, all, count, meant.")
    best_max: int | None = Field(description="The largest K of best(K); null for any.")
    usual_ask: str = Field(description="The default ask.")
    rules: list[Rule]
    usual_rules: str = Field(description="The default `rules` of a solve.")
    accepts_words: bool = Field(description="Whether it is played with words.")
    has_pictures: bool
    example: dict[str, Any] | None = Field(description="A board in the game's own form.")


class Games(BaseModel):
    """All games."""

    games: list[GameAbout]


@router.get("/games", summary="List the games")
def list_games() -> Games:
    """List the games with their asks, their rules and an example of each."""
    return Games(games=[about(name) for name in GAMES])


@lru_cache(maxsize=64)
def about(name: str) -> GameAbout:
    """Describe a game, from its plugs."""
    plug = game_plug(name)
    doors = ALL.get(name)
    return GameAbout(
        game=name,
        title=plug.title,
        levels=list(reader(name).LEVELS) if has_plug(name) else [],
        asks=[kind for kind in ASKS if kind in plug.asks],
        best_max=plug.best_max,
        usual_ask=str(plug.usual_ask),
        rules=[] if doors is None else [_rule(option, plug.rules) for option in doors.rule_options],
        usual_rules="" if doors is None else doors.rule_line({}),
        accepts_words=plug.words,
        has_pictures=doors is not None,
        example=None if doors is None or not has_plug(name) else example(name),
    )


def _rule(option: GameOption, rules: type[RuleLine] | None) -> Rule:
    choices = [str(choice) for choice in get_args(option.kind)] or None
    said = None if rules is None else getattr(rules(), option.rule or option.name, None)
    kind = str if choices else option.kind
    # If a rule has another unit than its option, its default would mislead.
    return Rule(
        name=option.name,
        type="choice" if choices else _TYPES.get(option.kind, "str"),
        default=said if type(said) is kind and option.kind is not str else None,
        choices=choices,
        help=option.help,
    )


def example(name: str) -> dict[str, Any] | None:
    """Return a board from the bundled archive of a game, or a random one."""
    plug = service_plug(name)
    if plug.sample is not None and plug.sample.is_dir():
        data = min(plug.sample.glob("*.json")).read_bytes()
    elif plug.sample_days is not None:
        payloads, _ = plug.payloads((), _SAMPLE_DATE, 1, plug.sample_seed)
        data = dumps(next(payloads)).encode()
    else:
        return None
    found = reader(name).read_puzzles(data, name)
    boards = [item.puzzle for item in found if isinstance(item, Published)]
    return game(name).puzzle_to_json(boards[0]) if boards else None
