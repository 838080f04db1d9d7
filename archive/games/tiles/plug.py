"""The archive's plug of Tiles. No day has a payload: the game's page generates its boards."""

from __future__ import annotations

from nightgrid.archive.games.plug import ArchivePlug


class TilesArchivePlug(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug."""

    name = "tiles"
    form = "tiles"
    columns = "feature int32[], tile_size int32[], name_letter int32[], name_size int32[]"
    """`feature` has the features of each tile in turn, as numbers in order of first appearance,
    `tile_size` how many each tile has. The names of features follow in the same order:
    `name_letter` has their code points, `name_size` how many letters each has. `size` is the number
    of tiles."""
    corpus_options = ("tiles", "layers", "shapes")

    def claims_member(self, key: str | None, value: bytes) -> bool:
        """Recognise our own form by its tiles, and the page's by its board of objects."""
        if key == "board":
            return value[1:].lstrip().startswith(b"{")
        if key is None:
            return value.startswith(b"[") or (value.startswith(b"{") and b'"layers"' in value)
        return key == "tiles"


PLUG = TilesArchivePlug()
