"""The number of kinds of files in an idle lake."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.tuned import tuned_settings
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.start import run_count
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from tests.flows.conftest import SAMPLE
from tests.workers.ondemand.keeping import keep, submit_without_server

KINDS_MAX = 15
"""Word games, a ranking and a key of the service add five: dictionaries, lexicons, two gold tables,
keys."""
_FOLDED = re.compile(r"[0-9a-f]{12,}|\d{4}-\d\d-\d\d|\d+|pips")


def test_a_night_a_count_and_jobs_leave_few_kinds_of_files(tmp_path: Path) -> None:
    settings = tuned_settings(lake=str(tmp_path / "lake"), games="pips", reconcile_seconds=0.01)
    game = NightGame(game="pips", source=str(SAMPLE), asks=(Ask(kind="first"),))
    work_night(NightSettings(games=(game,), executor="inline", workers=settings))
    count = CountSettings(corpus="pips:n=4,seed=2", executor="inline", workers=settings)
    run_count(count, prefect=False)
    lake = Lake.open(settings.lake)
    ((board, _),) = generate_many(5, 1, [PRESETS["easy"]])
    submit_without_server(lake, settings)(board, Ask(kind="count"))
    keep(lake, settings)
    kinds = sorted({_FOLDED.sub("#", path) for path in lake.list("")})
    assert len(kinds) <= KINDS_MAX, kinds
