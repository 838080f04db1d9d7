"""Plug Strands into the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from nightgrid.archive.games.generator_spec import Generated, Make
from nightgrid.archive.games.plug import ArchivePlug, PayloadReader
from nightgrid.solvers.algebra import Game

if TYPE_CHECKING:
    import pyarrow as pa


class StrandsInArchive(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug."""

    name = "strands"
    endpoint = "/svc/strands/v2"
    ranked = True
    corpus_options = ()

    def reader(self) -> PayloadReader:
        """Return what reads payloads of Strands."""
        from nightgrid.archive.games.strands import payload as strands

        return cast("PayloadReader", strands)

    def puzzles(self) -> pa.Schema:
        """Return the schema of the puzzles table."""
        from nightgrid.archive.games.strands.tables import STRANDS_PUZZLES

        return STRANDS_PUZZLES

    def claims_list(self, first: bytes) -> bool:
        """Tell a board by its rows, which are texts."""
        return first not in (b"{", b"[")

    def claims_member(self, key: str | None, value: Any) -> bool:
        """Tell a payload by its board, and a board by its rows, which are no objects."""
        if key == "board":
            return not isinstance(value, list) or not any(isinstance(row, dict) for row in value)
        return key == "startingBoard"

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:
        """Check that the words cover the board, however those lie that are not placed."""
        from nightgrid.archive.games.strands.official import is_cover
        from nightgrid.solvers.strands.rules import Rules

        return is_cover(puzzle, Rules.parse(game.rules), solution)

    def is_same(self, official: Any, found: Any) -> bool:
        """Compare words and cells, and of words that are not placed the words alone."""
        from nightgrid.archive.games.strands.official import is_same_cover

        return is_same_cover(official, found)

    def corpus_maker(self, spec: Generated) -> Make:
        """Lay the themes in turn."""
        from nightgrid.archive.games.strands.random_boards import maker

        return maker(spec)


PLUG = StrandsInArchive()
