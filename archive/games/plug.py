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
"""An edition, the rule that it breaks, the place in its payload, a message."""
ALONE_SUFFIX = "-alone"
"""Ends the name of a ranker without its models."""


def ranker_name(weights: str, *, with_models: bool) -> str:
    """Name what ranks: its weights, and whether its models take part."""
    return weights if with_models else f"{weights}{ALONE_SUFFIX}"


class PayloadReader(Protocol):
    """A module that reads the payloads of one game."""

    GAME: str
    FIRST_DATE: dt.date
    """The day of the first published puzzle."""
    LEVELS: tuple[str, ...]
    """The levels that every published payload has."""

    def read_payload(self, data: bytes, date: dt.date) -> list[Published | Fault]:
        """Read the payload that stands for a date, in the order of its levels."""

    def read_puzzles(self, data: bytes, name: str) -> list[Published | Fault]:
        """Read a payload, or a puzzle by itself; `name` is what the input is called."""


class RankingPlug(Protocol):
    """A module that knows what ranks one game's covers by how likely each was meant.

    The game itself is bound for the ask `meant` (nightgrid.archive.words.binding).
    """

    GAME: str
    ALONE: str
    """Clause that says that the models took no part."""
    MISSES: Mapping[str, str]
    """Classes of boards whose first cover is not the official one, in the order in which they are
    looked for: a code for programs and tables, with its phrase for people."""

    def ranker_here(self) -> str:
        """Name what ranks on this machine; opens neither vocabulary nor model."""

    def fitted_until(self, ranker: str) -> str | None:
        """Name the date of the last board that a ranker's weights were fitted on; None: unknown."""

    def measure(
        self, official: Any, covers: Sequence[Mapping[str, Any]]
    ) -> tuple[int | None, str | None]:
        """Find the place, from 1 on, of an official solution (JSON) among covers, and the miss.

        The place is None where it is not listed, the miss, a code of MISSES, None where it is
        first.
        """


class ArchivePlug:
    """One game in the archive. A game overrides what it has; the rest says that it has none.

    Loading a plug loads neither pyarrow nor anything that solves: its methods import what they
    need.
    """

    name: str
    """The game's name in nightgrid.solvers.registry."""
    columns: str
    """Columns of its boards in the puzzles table: see nightgrid.archive.lake.schemas.fields."""
    endpoint: str | None = None
    """Where a host that publishes several games keeps the payloads of this one; None for a game
    that is not published day by day."""
    page: str | None = None
    """Where such a host has the game's page, if the page holds the payload of the day."""
    ranked: bool = False
    """Whether official solutions are looked up among those of `best(k)`."""
    observed: bool = False
    """Whether payloads say something about other days, which is compared with what these say."""
    other_words: str = "--lexicon FILE names another one"
    """How a person plays with other words than those that lack some of an official solution."""
    corpus_options: tuple[str, ...] | None = None
    """Options of generator specs beside n and seed; None for a game without a generator."""

    def reader(self) -> PayloadReader:
        """Return what reads payloads of the game: the module `payload` beside the plug."""
        reader: PayloadReader = beside(self, "payload")
        return reader

    def puzzles(self) -> pa.Schema:
        """Return the schema of the game's puzzles table."""
        from nightgrid.archive.lake.schemas import puzzles_schema

        return puzzles_schema(self.name, self.columns)

    def claims_page(self, text: bytes) -> bool:  # noqa: ARG002 - what a game may look at
        """Return whether an input that is no JSON is a page of this game."""
        return False

    def claims_list(self, first: bytes) -> bool:  # noqa: ARG002
        """Recognise a board of this game in a JSON list, by the first byte of its first item."""
        return False

    def claims_member(self, key: str | None, value: Any) -> bool:  # noqa: ARG002
        """Return whether a JSON object with such a member is a payload or a board of this game."""
        return False

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:  # noqa: ARG002
        """Check an official solution against a board and the rules; None where that is open."""
        return None

    def worth(self, game: Game[Any, Any], solution: Any) -> int | None:  # noqa: ARG002
        """Return what a solution is worth in a game that asks for the fewest of something.

        It compares with the `value` of an outcome under the same rules.
        """
        return None

    def missing_words(self, game: Game[Any, Any], solution: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Name the words of an official solution that a game of words is not played with."""
        return ()

    def is_same(self, official: Any, found: Any) -> bool:
        """Return whether a solution that was found is the official one, in a game with ranks."""
        return bool(official == found)

    def remarks(
        self,
        puzzles: Callable[[], pa.Table],  # noqa: ARG002
        editions: pa.Table,  # noqa: ARG002
    ) -> Iterator[Remark]:
        """Find contradictions between current editions, by date, in a game that is observed.

        `editions` are sorted by date, and `puzzles` gives the boards that they name.
        """
        return iter(())

    def ranking(self) -> RankingPlug:
        """Return what ranks covers, in a game that has it: `ranking.plugged` beside the plug."""
        ranks: RankingPlug = beside(self, "ranking.plugged")
        return ranks

    def corpus_maker(self, spec: Generated) -> Make:
        """Check the options of a generator spec, and return what makes its boards.

        That is what `maker` of the module `random_boards` beside the plug returns. Board i depends
        on the options and on i alone. Raises PermanentError that names the option.
        """
        make: Make = beside(self, "random_boards").maker(spec)
        return make
