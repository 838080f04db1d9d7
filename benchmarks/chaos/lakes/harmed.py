"""Lakes whose files came to harm between two nights."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.chaos.harm import harm
from benchmarks.chaos.lakes.nights import Field, Found, answers, night_of, write_days
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.night.night import work_night


def harmed(kind: str) -> Callable[[Field, Path], Found]:
    """Make a fault of files of answers and hints that come to harm between two nights."""

    def strike(field: Field, folder: Path) -> Found:
        lake = field.copy(folder)
        paths = lake.list("results")
        for path in paths:
            harm(lake, path, kind)
        return field.after_night(lake, len(paths))

    return strike


def replaced_boards(_field: Field, folder: Path) -> Found:
    """Count a lake, put as many other boards in the place of its own, and count again."""
    made = {}
    for name, seed in (("one", 0), ("other", 5_000)):
        write_days(folder / name, range(2), seed)
        work_night(night_of(folder / f"lake-{name}", folder / name))
        made[name] = Lake.open(str(folder / f"lake-{name}"))
    lake = made["one"]
    for part in ("puzzles", "editions"):
        shutil.rmtree(folder / "lake-one" / part)
        shutil.copytree(folder / "lake-other" / part, folder / "lake-one" / part)
    workers = night_of(lake.url, folder).workers
    report = work_count(CountSettings(corpus="lake", executor="inline", workers=workers))
    statuses = Counter(report.figures.statuses)
    wanted = answers(made["other"]).column("job_id").to_pylist()
    there = answers(lake).column("job_id").to_pylist()
    return Found(
        struck=len(wanted),
        said=f"the second count answered {statuses.total()}",
        lost=len(set(wanted) - set(there)),
        doubled=len(there) - len(set(there)),
    )
