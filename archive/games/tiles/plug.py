"""The archive's plug of Tiles. No day has a payload: the game's page generates its boards."""

from __future__ import annotations

from typing import Any

from nightgrid.archive.games.plug import ArchivePlug


class TilesArchivePlug(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug."""

    name = "tiles"
    columns = "feature int32[], tile_size int32[], name_letter int32[], name_size int32[]"
    """`feature` has the features of each tile in turn, as numbers in order of first appearance,
    `tile_size` how many each tile has. The names of features follow in the same order:
    `name_letter` has their code points, `name_size` how many letters each has. `size` is the number
    of tiles."""
    corpus_options = ("tiles", "layers", "shapes")

    def claims_list(self, first: bytes) -> bool:
        """Recognise a board by its tiles: objects on the page, lists in our own form."""
        return first in (b"{", b"[")

    def claims_member(self, key: str | None, value: Any) -> bool:
        """Recognise our own form by its tiles, and the page's by its board of objects."""
        if key == "board":
            return isinstance(value, list) and any(isinstance(row, dict) for row in value)
        return key == "tiles"


PLUG = TilesArchivePlug()
