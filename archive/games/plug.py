"""A game's plug in the archive: its payloads, tables and checks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.plug import beside

if TYPE_CHECKING:
    import pyarrow as pa

    from nightgrid.archive.games.generator_spec import Generated, Make


Edition = Mapping[str, Any]
"""A row of the table of editions."""
Remark = tuple[Edition, str, str, str]
"""An edition, the broken rule, the place in its payload, a message."""
ALONE_SUFFIX = "-alone"
"""Suffix of the name of a ranker without its models."""


def ranker_name(weights: str, *, with_models: bool) -> str:
    """Return the name of a ranker: its weights, and whether it uses its models."""
    return weights if with_models else f"{weights}{ALONE_SUFFIX}"


class PayloadReader(Protocol):
    """A module that parses the payloads of one game."""

    GAME: str
    FIRST_DATE: dt.date
    """The day of the first published puzzle."""
    LEVELS: tuple[str, ...]
    """The levels that every published payload has."""

    def read_payload(self, data: bytes, date: dt.date) -> list[Published | Fault]:
        """Parse the payload of a date, in the order of its levels."""

    def read_puzzles(self, data: bytes, name: str) -> list[Published | Fault]:
        """Parse a payload or a bare puzzle; `name` is the input's name."""


class RankingPlug(Protocol):
    """A module about the ranker of one game's covers.

    The game itself is bound for the ask `meant` (nightgrid.archive.words.binding).
    """

    GAME: str
    ALONE: str
    """Clause that says that the models were not used."""
    MISSES: Mapping[str, str]
    """Classes of boards whose first cover is not the official one, in the order of the checks: a
    code for programs and tables, with its phrase for people."""

    def ranker_here(self) -> str:
        """Return the name of this machine's ranker, without opening vocabulary or model."""

    def fitted_until(self, ranker: str) -> str | None:
        """Return the date of the last board that a ranker's weights were fitted on, if known."""

    def measure(
        self, official: Any, covers: Sequence[Mapping[str, Any]]
    ) -> tuple[int | None, str | None]:
        """Return the place, from 1, of an official solution (JSON) among covers, and the miss.

        The place is None if it is not listed; the miss, a code of MISSES, is None if it is first.
        """


class ArchivePlug:
    """One game in the archive. A game overrides what it supports; the defaults support nothing.

    Loading a plug loads neither pyarrow nor a solver: methods import what they need.
    """

    name: str
    """The game's name in nightgrid.solvers.registry."""
    columns: str
    """Columns of its boards in the puzzles table: see nightgrid.archive.lake.schemas.fields."""
    form: str = ""
    """Which keys its boards have, for messages."""
    endpoint: str | None = None
    """Path of the game's payloads on a host that publishes several games; None for a game that is
    not published day by day."""
    ranked: bool = False
    """Whether to look up official solutions among those of `best(k)`."""
    observed: bool = False
    """Whether payloads have facts about other days, which are compared with those days."""
    other_words: str = "--lexicon FILE names another one"
    """How to play with other words if the lexicon lacks some of an official solution."""
    corpus_options: tuple[str, ...] | None = None
    """Options of generator specs besides n and seed; None for a game without a generator."""

    def reader(self) -> PayloadReader:
        """Return the parser of the game's payloads: the module `payload` next to the plug."""
        reader: PayloadReader = beside(self, "payload")
        return reader

    def puzzles(self) -> pa.Schema:
        """Return the schema of the game's puzzles table."""
        from nightgrid.archive.lake.schemas import puzzles_schema

        return puzzles_schema(self.name, self.columns)

    def claims_page(self, text: bytes) -> bool:  # noqa: ARG002 - what a game may look at
        """Return whether an input that is not JSON is a page of this game."""
        return False

    def claims_member(self, key: str | None, value: bytes) -> bool:  # noqa: ARG002
        """Return whether a JSON object with such a member is a payload or a board of this game.

        Without a key, `value` is the first item of a list. It is JSON, perhaps with an error or cut
        off, or b"" to ask about the key alone.
        """
        return False

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:  # noqa: ARG002
        """Check an official solution against a board and the rules; None if that is open."""
        return None

    def worth(self, game: Game[Any, Any], solution: Any) -> int | None:  # noqa: ARG002
        """Return the value of a solution in a game that minimises something.

        It compares with the `value` of an outcome under the same rules.
        """
        return None

    def missing_words(self, game: Game[Any, Any], solution: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Return the words of an official solution that a word game as bound does not know."""
        return ()

    def is_same(self, official: Any, found: Any) -> bool:
        """Return whether a found solution equals the official one, in a game with ranks."""
        return bool(official == found)

    def remarks(
        self,
        puzzles: Callable[[], pa.Table],  # noqa: ARG002
        editions: pa.Table,  # noqa: ARG002
    ) -> Iterator[Remark]:
        """Find contradictions between current editions, by date, in a game with facts about other
        days.

        `editions` are sorted by date, and `puzzles` returns their boards.
        """
        return iter(())

    def ranking(self) -> RankingPlug:
        """Return the ranker's plug, if the game has one: `ranking.plugged` next to the plug."""
        ranks: RankingPlug = beside(self, "ranking.plugged")
        return ranks

    def corpus_maker(self, spec: Generated) -> Make:
        """Validate the options of a generator spec, and return a function that generates its
        boards.

        It is returned by `maker` of the module `random_boards` next to the plug. Board i depends
        only on the options and on i. Raises PermanentError that names the option.
        """
        make: Make = beside(self, "random_boards").maker(spec)
        return make
