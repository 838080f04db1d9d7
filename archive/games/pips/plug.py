"""Plug Pips into the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from nightgrid.archive.games.generator_spec import Generated, Make
from nightgrid.archive.games.plug import ArchivePlug, PayloadReader
from nightgrid.solvers.algebra import Game
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    import pyarrow as pa


class PipsInArchive(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug.

    It claims no input: as the first of all games it is meant where no other claims one.
    """

    name = "pips"
    endpoint = "/svc/pips/v1"
    corpus_options = ("mix", "dominoes", "rows", "unconstrained", "max_pip", "duplicates")

    def reader(self) -> PayloadReader:
        """Return what reads payloads of Pips."""
        from nightgrid.archive.games.pips import payload as pips

        return cast("PayloadReader", pips)

    def puzzles(self) -> pa.Schema:
        """Return the schema of the puzzles table."""
        from nightgrid.archive.games.pips.tables import PIPS_PUZZLES

        return PIPS_PUZZLES

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:  # noqa: ARG002 - Pips has no rules to switch
        """Check that the dominoes lie as the regions want it."""
        from nightgrid.solvers.pips.check import check_solution

        try:
            check_solution(puzzle, solution)
        except PermanentError:
            return False
        return True

    def corpus_maker(self, spec: Generated) -> Make:
        """Choose the mixes that boards are drawn from."""
        from nightgrid.archive.games.pips.random_boards import maker

        return maker(spec)


PLUG = PipsInArchive()
