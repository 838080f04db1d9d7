"""A game's plug on this floor, and the lookup of plugs on any floor."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules, resolve_name
from typing import Any, Generic, TypeVar

from nightgrid.solvers.algebra import Ask, AskKind
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Dictionaries, Game
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.rule_line import RuleLine

MODULE, ATTRIBUTE = "plug", "PLUG"
"""Every plug package of this project has a module of this name with this attribute."""
LAST = 100
"""Position of a game that does not set its own."""
FIRST, COUNT = Ask(kind="first"), Ask(kind="count")


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlug:
    """The data of a game for every floor, before solving. Creating one loads no kernel."""

    name: str
    """Name of the game in commands, messages and tables: letters and digits."""
    title: str
    """Its name for people."""
    order: int = LAST
    """Position in lists of games, the lowest first. The first game is the default."""
    game: str
    """Its `Game` class, written as in entry points: "package.module:Class". It is constructed from
    rules, words and dictionaries; no solver is imported before."""
    meant: str = ""
    """The class of the game that answers `meant(k)`, written like `game`, constructed from rules in
    their one-line form. It is on the archive's floor because it needs models."""
    rules: type[RuleLine] | None = None
    """The switchable rules; None if there are none."""
    words: bool = False
    """Whether it is played with words."""
    own_words: bool = False
    """Whether boards may have a dictionary of their own, as `puzzle.dictionary`. Bound to no
    lexicon, the game uses it."""
    asks: frozenset[AskKind] = frozenset({"first", "all", "count"})
    """The asks about a puzzle."""
    best_max: int | None = None
    """The largest k of `best(k)`; None for any."""
    night_asks: tuple[Ask, ...] = (COUNT,)
    """The default asks of a night."""
    quick_ask: Ask = FIRST
    """The default ask of commands that answer at once: the most informative one that is quick."""
    sample_ask: Ask = FIRST
    """The ask that finds one solution to show with a count."""

    def bind(
        self, rules: str, lexicon: Lexicon | None, dictionaries: Dictionaries | None
    ) -> Game[Any, Any]:
        """Create the game from rules in their one-line form, words and dictionaries."""
        made = resolve_name(self.game)
        switched = None if self.rules is None else self.rules.parse(rules)
        game: Game[Any, Any] = made(switched, lexicon, dictionaries)
        return game

    def bind_meant(self, rules: str) -> Game[Any, Any]:
        """Create the game that answers `meant(k)` from rules in their one-line form."""
        game: Game[Any, Any] = resolve_name(self.meant)(rules)
        return game

    @property
    def usual_ask(self) -> Ask:
        """The default ask of a count or an on-demand job."""
        return COUNT if "count" in self.asks else FIRST

    def answers(self, ask: Ask) -> bool:
        """Return whether the game answers an ask."""
        within = ask.kind != "best" or self.best_max is None or (ask.limit or 1) <= self.best_max
        return ask.kind in self.asks and within


def beside(plug: object, name: str) -> Any:
    """Import a module next to a game's plug."""
    return import_module(f"{type(plug).__module__.rpartition('.')[0]}.{name}")


P = TypeVar("P")


class Plugs(Generic[P]):
    """The plugs of one floor by game, each loaded on first use."""

    def __init__(self, package: str, group: str) -> None:
        """Search for nothing yet."""
        self._package = package
        self._group = group
        self._loaded: dict[str, P] = {}

    @cached_property
    def _own(self) -> frozenset[str]:
        path = import_module(self._package).__path__
        folders = [found.name for found in iter_modules(path) if found.ispkg]
        return frozenset(name for name in folders if find_spec(self._module(name)) is not None)

    @cached_property
    def _others(self) -> dict[str, EntryPoint]:
        return {
            found.name: found
            for found in entry_points(group=self._group)
            if found.name not in self._own
        }

    def _module(self, name: str) -> str:
        return f"{self._package}.{name}.{MODULE}"

    def has(self, name: str) -> bool:
        """Return whether a game has a plug on this floor."""
        return name in self._own or name in self._others

    def plug(self, name: str) -> P:
        """Load a game's plug.

        Raises PermanentError for a game without one, and for one of another distribution that
        cannot be loaded.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> P:
        if name in self._own:
            found: P = getattr(import_module(self._module(name)), ATTRIBUTE)
            return found
        if name not in self._others:
            raise PermanentError(f"no plug of {name!r:.40} is in {self._package} or {self._group}")
        try:
            loaded: P = self._others[name].load()
        except Exception as error:
            value = self._others[name].value
            raise PermanentError(
                f"game {name!r:.40} of {value} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        return loaded

    def every(self) -> Iterator[tuple[str, P]]:
        """Load all plugs; yield them with the names of their games, sorted.

        Leaves out, with a warning, those of other distributions that fail to load, since the other
        games are not at fault.
        """
        for name in sorted({*self._own, *self._others}):
            try:
                found = self.plug(name)
            except PermanentError as error:
                warnings.warn(str(error), RuntimeWarning, stacklevel=2)
                continue
            yield name, found
