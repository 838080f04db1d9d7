"""A game's plug in the service: its view, options and random payloads."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.plug import beside
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.service.drawing import View
    from nightgrid.solvers.game_contract import Game

SAMPLES = Path(__file__).parents[1] / "sample"
"""The bundled archives, one folder for each game."""
Payload = Mapping[str, Any]
"""A random payload, as JSON."""
Said = Mapping[str, Any]
"""Rules by name, only those that were given."""


@dataclass(frozen=True, slots=True)
class GameOption:
    """A switchable rule; several games may share its name."""

    name: str
    """Its name in --rule and in the `rules` of a request."""
    kind: Any
    """The type of its value, or a Literal of its choices."""
    help: str
    """Its effect in this game."""
    _: KW_ONLY
    rule: str | None = None
    """The rule that it sets, if that has another name."""
    to_rule: Callable[[Any], Any] = lambda value: value
    """Converts the option's value into the rule's; None leaves the rule unchanged."""
    texts: str = ""
    """Description of a text value, for help."""

    @property
    def values(self) -> str:
        """Its values, for help."""
        names = {int: "N", float: "X", bool: "yes|no", str: self.texts}
        return names.get(self.kind) or "|".join(get_args(self.kind))


class ServicePlug:
    """One game in the service. A game overrides what it supports; the defaults support nothing.

    Every command loads every plug, so loading has to be quick: methods import what they need.
    """

    name: str
    """The game's name in nightgrid.solvers.registry."""
    lists_lines: bool = False
    """Whether a list of solutions is one drawing followed by lines."""
    rule_options: tuple[GameOption, ...] = ()
    """Options that set rules."""
    sample: Path | None = None
    """The bundled archive, if there is one."""
    sample_days: int | None = None
    """Default number of payloads for `generate`; None for a game without `payloads`."""
    sample_seed: int = 0
    """Default seed of `generate`."""
    payloads_help: str = ""
    """Help text about them, in whole sentences."""
    dated: bool = True
    """Whether generated payloads are named by dates."""

    def advice(self, game: Game[Any, Any]) -> str:  # noqa: ARG002
        """Return which other rules and words may give a board a solution, as a clause."""
        return ""

    def view(self) -> View:
        """Return the game's view: the module `view` next to the plug."""
        view: View = beside(self, "view")
        return view

    def rule_line(self, said: Said) -> str:
        """Convert given rules to the one line that the game parses, "" without rules.

        Raises OptionError for two options that set the same rule, and RuleError for an invalid
        value of a rule.
        """
        rules = game_plug(self.name).rules
        by: dict[str, GameOption] = {}
        for mine in (mine for mine in self.rule_options if mine.name in said):
            other = by.setdefault(mine.rule or mine.name, mine)
            if other is not mine:
                both = f"{other.name} and {mine.name} exclude one another; give one"
                raise OptionError(both, other.name, mine.name)
        values = {rule: mine.to_rule(said[mine.name]) for rule, mine in by.items()}
        given = {rule: value for rule, value in values.items() if value is not None}
        return "" if rules is None else str(rules(**given))

    def check_night(self, said: Said) -> None:
        """Raise PermanentError for rules that a night over many boards cannot have."""

    def with_rules(self, puzzle: Any, said: Said) -> Any:  # noqa: ARG002
        """Apply options that belong to the puzzle rather than to the rules."""
        return puzzle

    def levels(self) -> Sequence[str]:
        """Return the levels of `payloads`; empty if its boards are all alike."""
        return ()

    def payloads(
        self, levels: Sequence[str], start: dt.date, days: int, seed: int
    ) -> tuple[Iterator[Payload], list[str]]:
        """Yield random payloads of some levels, by default the usual ones, with names.

        A game with levels also takes `wanted`, a Wanted.

        Raises PermanentError for an unknown level.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Requirements for random boards."""

    unique: bool = False
    """Boards with exactly one solution."""
    states: tuple[int, int] | None = None
    """Fewest and most states of counting all solutions."""


class OptionError(PermanentError):
    """Invalid values of rules; `names` has the rules in the order of the text."""

    def __init__(self, text: str, *names: str) -> None:
        super().__init__(text)
        self.names = names


def dated(start: dt.date, days: int, make: Callable[[dt.date, int], Payload]) -> Iterator[Payload]:
    """Yield the payload of each date, made from the date and its number."""
    return (make(start + dt.timedelta(days=day), day) for day in range(days))


def whole_number(text: str) -> int | None:
    """Parse a number of up to seven digits; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 7 else None


def bound_json(game: Game[Any, Any]) -> dict[str, Any]:
    """Return what a word game is bound to as JSON: its rules and its words."""
    return {"rules": game.rules, "lexicon_id": game.lexicon_id} if game.rules else {}
