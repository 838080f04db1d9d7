"""Drop rankings of earlier weights than the present ones.

A ranking is as old as the last date of its board, or else as its file, which is never changed. What
was measured of a ranker stays in gold/rank_accuracy.parquet.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from nightgrid.archive.games import ranking_game, ranking_plug
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, RANKINGS
from nightgrid.archive.results.rankings import FOLDER, SUFFIX
from nightgrid.archive.skipped_files import skip_file
from nightgrid.flows.maintenance.retention.ages import unix_ns
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned

_WEIGHTS = re.compile(r"([a-z]+)-(\d+)(?![^+-])")
"""The name and number of weights; versions of vocabulary may follow, or that models are away."""


def prune_rankings(lake: Lake, game: str, before: dt.datetime, check: Callable[[], None]) -> Pruned:
    """Drop the rankings of a game that superseded rankers made before; return how many."""
    freed = count = 0
    present = _weights_number(ranking_plug().ranker_here())
    dates = _dates(lake, game)
    limit_ns = unix_ns(before)
    stamps = lake.stamps(FOLDER) if game == ranking_game() else {}
    for path, (size, written_ns) in sorted(stamps.items()):
        if not path.endswith(SUFFIX):
            continue
        try:
            (row,) = lake.read_file(path, RANKINGS).select(["puzzle_id", "ranker"]).to_pylist()
        except MissingFileError:
            continue
        except DamagedFileError as error:
            skip_file(path, error)
            continue
        date = dates.get(row["puzzle_id"])
        is_old = written_ns < limit_ns if date is None else date < before.date()
        if is_old and _is_before(row["ranker"], present):
            count, freed = count + 1, freed + size
            check()
            lake.delete(path, durable=False)
    return Pruned(what=Kept.RANKINGS, game=game, count=count, freed_bytes=freed)


def _weights_number(ranker: str) -> tuple[str, int] | None:
    """Read the name and number of a ranker's weights, without what follows; None: it has none."""
    found = _WEIGHTS.match(ranker)
    return (found[1], int(found[2])) if found else None


def _is_before(ranker: str, present: tuple[str, int] | None) -> bool:
    """Tell whether a ranker has earlier weights of the same name than the present one.

    The same weights with other versions of the vocabulary are as good on another machine, and a
    newer nightgrid may share the lake.
    """
    weights = _weights_number(ranker)
    if weights is None or present is None:
        return False
    return weights[0] == present[0] and weights[1] < present[1]


def _dates(lake: Lake, game: str) -> dict[str, dt.date]:
    """Read the last date on which each board stood."""
    editions = lake.read_table(editions_path(game), EDITIONS, ["puzzle_id", "date"])
    stands = editions.group_by("puzzle_id").aggregate([("date", "max")])
    ids, days = (stands.column(name).to_pylist() for name in ("puzzle_id", "date_max"))
    return dict(zip(ids, days, strict=True))
