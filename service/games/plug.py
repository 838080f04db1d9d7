"""A game's plug at the doors: its views, options and random payloads."""

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
"""The bundled archives, a folder a game."""
Payload = Mapping[str, Any]
"""A random payload, as JSON."""
Said = Mapping[str, Any]
"""Rules by name, those alone that were given."""


@dataclass(frozen=True, slots=True)
class GameOption:
    """A rule that a person may switch; several games may share its name."""

    name: str
    """Its name in --rule and in the `rules` of a request."""
    kind: Any
    """The type of its value, or a Literal of its choices."""
    help: str
    """What it does in this game."""
    _: KW_ONLY
    rule: str | None = None
    """The rule that it sets, where that has another name."""
    to_rule: Callable[[Any], Any] = lambda value: value
    """Makes the rule's value of the option's; None leaves the rule as it is."""
    texts: str = ""
    """What a text may be, as help shows it."""

    @property
    def values(self) -> str:
        """Its values, as help shows them."""
        names = {int: "N", float: "X", bool: "yes|no", str: self.texts}
        return names.get(self.kind) or "|".join(get_args(self.kind))


class ServicePlug:
    """One game at the doors. A game overrides what it has; the rest says that it has none.

    Every command loads every plug, so that loading one has to be quick: its methods import what
    they need.
    """

    name: str
    """The game's name in nightgrid.solvers.registry."""
    lists_lines: bool = False
    """Whether one drawing is enough for a list of solutions, whose others are lines."""
    rule_options: tuple[GameOption, ...] = ()
    """Options that switch rules."""
    sample: Path | None = None
    """The bundled archive, if there is one."""
    sample_days: int | None = None
    """How many payloads `generate` writes unless told otherwise; None for a game without
    `payloads`."""
    sample_seed: int = 0
    """What they are drawn from unless told otherwise."""
    payloads_help: str = ""
    """What help says of them, in whole sentences."""
    unsolvable_advice: str = ""
    """Which rules may keep a board of a person's own from having a solution, as a clause."""
    dated: bool = True
    """Whether generated payloads are named by dates."""

    def advice(self, game: Game[Any, Any]) -> str:  # noqa: ARG002
        """Return which rules and words may keep a board from having a solution, as a clause."""
        return self.unsolvable_advice

    def view(self) -> View:
        """Return how the game is shown: the module `view` next to the plug."""
        view: View = beside(self, "view")
        return view

    def rule_line(self, said: Said) -> str:
        """Write what was said about rules in the one line that the game reads, "" without rules.

        Raises OptionError for two options that set the same rule, and RuleError for a rule that
        has no such value.
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
        """Apply to a puzzle what was asked of it rather than of the rules."""
        return puzzle

    def levels(self) -> Sequence[str]:
        """Name the levels that `payloads` makes boards of; none if its boards are all alike."""
        return ()

    def payloads(
        self,
        levels: Sequence[str],
        start: dt.date,
        days: int,
        seed: int,
        wanted: Wanted | None = None,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make random payloads of some levels, of the usual ones if none is named; name them.

        Only a game with levels has boards that are `wanted`.

        Raises PermanentError for an unknown level.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which random boards are wanted."""

    unique: bool = False
    """Boards with exactly one solution."""
    states: tuple[int, int] | None = None
    """Fewest and most states of counting all solutions."""


class OptionError(PermanentError):
    """Rules with values that they cannot have; `names` has them in the order of the text."""

    def __init__(self, text: str, *names: str) -> None:
        super().__init__(text)
        self.names = names


def dated(start: dt.date, days: int, make: Callable[[dt.date, int], Payload]) -> Iterator[Payload]:
    """Make the payload of each date, of the date and its number."""
    return (make(start + dt.timedelta(days=day), day) for day in range(days))


def whole_number(text: str) -> int | None:
    """Read a number of up to seven digits; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 7 else None


def bound_json(game: Game[Any, Any]) -> dict[str, Any]:
    """Write what a word game is bound to: its rules and its words."""
    return {"rules": game.rules, "lexicon_id": game.lexicon_id} if game.rules else {}
