"""Plug Tiles into the archive. No day has a payload: the game's page makes its boards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from nightgrid.archive.games.generator_spec import Generated, Make
from nightgrid.archive.games.plug import ArchivePlug, PayloadReader

if TYPE_CHECKING:
    import pyarrow as pa


class TilesInArchive(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug."""

    name = "tiles"
    corpus_options = ("tiles", "layers", "shapes")

    def reader(self) -> PayloadReader:
        """Return what reads boards of Tiles."""
        from nightgrid.archive.games.tiles import payload as tiles

        return cast("PayloadReader", tiles)

    def puzzles(self) -> pa.Schema:
        """Return the schema of the puzzles table."""
        from nightgrid.archive.games.tiles.tables import TILES_PUZZLES

        return TILES_PUZZLES

    def claims_list(self, first: bytes) -> bool:
        """Tell a board by its tiles: objects on the page, lists in our own form."""
        return first in (b"{", b"[")

    def claims_member(self, key: str | None, value: Any) -> bool:
        """Tell our own form by its tiles, and the page's by its board of objects."""
        if key == "board":
            return isinstance(value, list) and any(isinstance(row, dict) for row in value)
        return key == "tiles"

    def corpus_maker(self, spec: Generated) -> Make:
        """Read the form of the boards."""
        from nightgrid.archive.games.tiles.random_boards import maker

        return maker(spec)


PLUG = TilesInArchive()
