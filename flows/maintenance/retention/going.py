"""Drop result rows with their solutions and the folders of their runs, in an order that lasts.

The folders of the runs go first, so that nothing makes the rows again, then the solutions, then the
rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.without import drop_rows, keys_in
from nightgrid.archive.results.dropped import note_rows_dropped
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.flows.maintenance.retention.ages import (
    KEY,
    AgedRows,
    drop_runs_of,
    ends_path,
)
from nightgrid.flows.maintenance.retention.gold_anew import write_gold_anew
from nightgrid.flows.maintenance.retention.listings import (
    drop_solutions,
    forget_dropped,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """Result rows of a game that go."""

    game: str
    aged: AgedRows
    rows: pa.Table
    listed: pa.Table
    """Those of the rows whose solutions go."""
    noted_as: str
    """The table of which it is noted that solutions were dropped."""

    def drop(self, lake: Lake, today: dt.date, check: Callable[[], None]) -> int:
        """Drop them, and count the bytes; `check` is called before what cannot be taken back."""
        if not len(self.rows):
            return 0
        check()
        # Before, too: where this is killed after the rows are gone, nothing else tells of it.
        note_rows_dropped(lake)
        freed = drop_runs_of(lake, self.game, self.aged, self._runs())
        freed += drop_solutions(lake, self.game, self.listed, self.noted_as, today, check)
        freed += drop_rows(lake, RESULT_FILES, KEY, self._keys(), check=check).freed_bytes
        note_rows_dropped(lake)
        return freed

    def end(self, lake: Lake) -> None:
        """Forget what was noted for a call that is killed, and make gold anew."""
        forget_dropped(lake, self.game)
        lake.delete(ends_path(self.game), durable=False)
        write_gold_anew(lake, self.game)

    def _runs(self) -> set[str]:
        return {*self.rows.column("run_id").to_pylist()}

    def _keys(self) -> pa.Array:
        return pc.unique(keys_in(self.rows, KEY))
