"""Lakes whose files came to harm between two nights, or that hold files of others."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.chaos.harm import HARMS, change_count, harm
from benchmarks.chaos.lakes.nights import Field, Found, answers, night_of, write_days
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.flows.night.night import work_night
from nightgrid.solvers.errors import RefusalError


def harmed(kind: str) -> Callable[[Field, Path], Found]:
    """Make a fault of files of answers and costs that come to harm between two nights."""

    def strike(field: Field, folder: Path) -> Found:
        lake = field.copy(folder)
        paths = [*lake.list("results"), *lake.list("costs"), *lake.list("checked")]
        for path in paths:
            harm(lake, path, kind)
        return field.after_night(lake, len(paths))

    return strike


def beside_foreign_files(field: Field, folder: Path) -> Found:
    """Put a sound Parquet file, and a text, of another program beside ours."""
    lake = field.copy(folder)
    folders = ("results", "solutions", "costs", "puzzles/game=pips")
    for name in folders:
        lake.write_bytes(f"{name}/notes.parquet", HARMS["foreign"](b"") or b"")
        lake.write_bytes(f"{name}/notes.txt", b"mine")
    found = field.after_night(lake, 2 * len(folders))
    gone = [name for name in folders if lake.read_bytes(f"{name}/notes.txt") != b"mine"]
    if lake.read_bytes("results/notes.parquet") != HARMS["foreign"](b""):
        gone.append("results")
    return found if not gone else Found(struck=1, said="", bad=f"{gone} were changed")


def changed_count(field: Field, folder: Path) -> Found:
    """Change a count by one; check, repair, and work the next night."""
    lake = field.copy(folder)
    (path, *_) = lake.list("results")
    change_count(lake, path)
    before = [found.path for found in check_lake_files(lake)]
    mended = [one.mended for one in repair_lake(lake)]
    bad = "" if path in before and all(mended) else f"the check found {before}, mended {mended}"
    found = field.after_night(lake, 1, "named by `lake check`, written again by `lake repair`")
    return found if not bad else Found(struck=1, said=found.said, bad=bad)


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


def later_version(field: Field, folder: Path) -> Found:
    """Let each table in turn be one of a later version; a night refuses and changes no file."""
    refused = changed = 0
    paths = ("results", "puzzles", "editions", "raw/pips.parquet")
    for number, name in enumerate(paths):
        (folder / f"{number}").mkdir()
        lake = field.copy(folder / f"{number}")
        (path, *_) = lake.list(name) or [name]
        table = pq.read_table(io.BytesIO(lake.read_bytes(path)))
        metadata = {**table.schema.metadata, b"nightgrid.schema_version": b"99"}
        sink = io.BytesIO()
        pq.write_table(table.replace_schema_metadata(metadata), sink)
        lake.write_bytes(path, sink.getvalue())
        try:
            work_night(night_of(lake.url, field.source))
        except RefusalError:
            refused += 1
        changed += lake.read_bytes(path) != sink.getvalue()
    bad = "" if (refused, changed) == (len(paths), 0) else f"{changed} files were written over"
    return Found(struck=len(paths), said=f"{refused} of {len(paths)} nights refused", bad=bad)
