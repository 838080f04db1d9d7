"""Our own sorting, anti-joining and aggregating of Parquet beside DuckDB's, at equal output.

`python -m benchmarks.kernels.duckdb_compared`: three tasks of a large run, each done by what the
project uses and by DuckDB, alternately, every one in a process of its own that must say the same
digest:

- sort: answers come in by the batch and go out as one Parquet file sorted by job_id
- answered: of the jobs of a plan, which are new and have no answer in the lake
- runtimes: percentiles of kernel times by level, over results joined with editions
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.instruments.processes import peak_bytes
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import BUDGET_COLUMNS, EDITIONS, RESULTS
from nightgrid.archive.results.gold.runtimes import runtimes
from nightgrid.archive.results.results import find_results_of
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.question import Question, question_of
from nightgrid.solvers.registry import game
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.runs.finishing.gathering import ANSWER, BUCKET_ROWS, Buckets
from nightgrid.workers.runs.job_keys import KeySet, ids_of, keys_of, read_answers

BATCH_ROWS = 16_384
PLAN_ROWS = 32_768
LEVELS = ("easy", "hard", "medium")
EDITIONS_PATH = "editions/pips.parquet"
EDITIONS_PER_BATCH = 300
RUNTIME_COLUMNS = ["job_id", "run_id", "puzzle_id", "status", "kernel_ns", "states"]
MEMORY_LIMIT = "256MB"
"""Given to DuckDB's sort: a driver of a million boards is to stay below 300 MB."""


def _batches(rows: int) -> Iterator[pa.Table]:
    """Make answers as a run takes them in, the same in every process."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, BATCH_ROWS):
        size = min(BATCH_ROWS, rows - start)
        keys = rng.integers(0, 2**63, (size, 2), np.uint64) << np.uint64(1)
        ids = ids_of(keys)
        times = rng.integers(10_000, 90_000, size)
        columns: dict[str, Any] = {
            "job_id": ids,
            "puzzle_id": ids_of(keys[:, ::-1]),
            "status": pa.array(["solved"] * size),
            "count": pa.array(times % 7 + 1).cast(pa.decimal128(38, 0)),
            "reason": pa.array([""] * size),
            "states": pa.array(times // 50),
            "nodes": pa.array(times // 90),
            "parts": pa.array(np.ones(size, np.int32)),
            "kernel_ns": pa.array(times),
            "table_bytes": pa.array(times * 3),
        }
        yield pa.table(
            {n: columns.get(n, pa.nulls(size, ANSWER.field(n).type)) for n in ANSWER.names},
            schema=ANSWER,
        )


def _question() -> Question:
    return question_of(game("pips"), Ask(kind="count"))


def _results(answers: pa.Table) -> pa.Table:
    """Add the columns that are the same in all rows of a run."""
    constants = {**_question().to_json(), "run_id": "earlier"}
    columns = {name: answers.column(name) for name in answers.column_names}
    columns |= {n: pa.repeat(pa.scalar(v), len(answers)) for n, v in constants.items()}
    columns |= {n: pa.nulls(len(answers), RESULTS.field(n).type) for n in BUDGET_COLUMNS}
    return pa.table({n: columns[n] for n in RESULTS.names}, schema=RESULTS)


def prepare(folder: Path, rows: int) -> None:
    """Write what the tasks read: a lake with results of half a plan, and a table of levels."""
    results = map(_results, _batches(rows // 2))
    lake = Lake.open(str(folder / "lake"))
    lake.write_row_groups("results/earlier.parquet", results, RESULTS)
    editions = [
        {
            "game": "pips",
            "date": dt.date(2026, 1, 1) + dt.timedelta(days=number // len(LEVELS)),
            "level": LEVELS[number % len(LEVELS)],
            "revision": 1,
            "puzzle_id": puzzle_id,
            "seen_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
            "raw_sha256": "",
        }
        for batch in _batches(rows // 2)
        for number, puzzle_id in enumerate(batch["puzzle_id"][:EDITIONS_PER_BATCH].to_pylist())
    ]
    lake.write_table(EDITIONS_PATH, pa.Table.from_pylist(editions, schema=EDITIONS))


def _digest(column: pa.ChunkedArray) -> str:
    text = "\n".join(map(str, column.to_pylist()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sort_own(folder: Path, rows: int) -> Callable[[], str]:
    """Sort by buckets on the disk, as a run gathers its answers."""
    lake = Lake.open(str(folder / "out"))
    with Buckets(folder, ANSWER, rows) as buckets:
        for batch in _batches(rows):
            buckets.add(batch)
        lake.write_row_groups("results/sorted.parquet", map(_results, buckets.tables()), RESULTS)
    return lambda: _sorted_digest(folder)


def sort_duckdb(folder: Path, rows: int) -> Callable[[], str]:
    """Insert into a DuckDB file and read it back in order, written by the lake alike."""
    import duckdb

    lake = Lake.open(str(folder / "out"))
    base = duckdb.connect(str(folder / "rows.duckdb"), config={"memory_limit": MEMORY_LIMIT})
    made = False
    for batch in _batches(rows):
        base.register("batch", batch)
        base.sql("insert into answers from batch" if made else "create table answers as from batch")
        base.unregister("batch")
        made = True
    # The rows of a bucket at a time: what DuckDB yields has row groups of its own size.
    found = base.sql("select * from answers order by job_id").to_arrow_reader(BUCKET_ROWS)
    tables = (_results(pa.Table.from_batches([batch]).cast(ANSWER)) for batch in found)
    lake.write_row_groups("results/sorted.parquet", tables, RESULTS)
    return lambda: _sorted_digest(folder)


def _sorted_digest(folder: Path) -> str:
    return _digest(
        pq.read_table(folder / "out/results/sorted.parquet", columns=["job_id"])["job_id"]
    )


def answered_own(folder: Path, rows: int) -> Callable[[], str]:
    """Look jobs up among all answers, as a planner does, a batch at a time."""
    answers = read_answers(Lake.open(str(folder / "lake")), _question(), Budget())
    seen = KeySet()
    count, total = 0, 0
    for batch in _batches(rows):
        keys = keys_of(batch["job_id"])
        new = seen.add(keys) & ~answers.hold(keys)
        count += int(new.sum())
        total ^= int(np.bitwise_xor.reduce(keys[new, 1]))
    trim()
    return lambda: f"{count} {total:x}"


def answered_duckdb(folder: Path, rows: int) -> Callable[[], str]:
    """Ask DuckDB for the anti-join of each batch with the answers and with what was planned."""
    import duckdb

    base = duckdb.connect(config={"memory_limit": MEMORY_LIMIT})
    base.sql(f"""
        create table seen as select job_id from read_parquet('{folder}/lake/results/*.parquet')
        where status in ('solved', 'unsolvable', 'invalid')
    """)
    count, total = 0, 0
    for batch in _batches(rows):
        jobs = batch.select(["job_id"])
        base.register("batch", jobs)
        new = base.sql("select distinct job_id from batch anti join seen using (job_id)")
        found = new.to_arrow_table()
        base.register("found", found)
        base.sql("insert into seen from found")
        keys = keys_of(found["job_id"])
        count += len(keys)
        total ^= int(np.bitwise_xor.reduce(keys[:, 1]))
    return lambda: f"{count} {total:x}"


def runtimes_arrow(folder: Path, _rows: int) -> Callable[[], str]:
    """Make the rows of the runtimes table by Arrow, as gold did before."""
    lake = Lake.open(str(folder / "lake"))
    levels = lake.read_table(EDITIONS_PATH, EDITIONS, ["puzzle_id", "level"])
    levels = levels.group_by(["puzzle_id", "level"]).aggregate([])
    results = find_results_of(lake, _question(), RUNTIME_COLUMNS)
    joined = results.join(levels, "puzzle_id", join_type="left outer")
    level_of = joined.column("level").fill_null("unpublished")
    found = []
    for level in sorted(pc.unique(level_of).to_pylist()):
        part = joined.filter(pc.equal(level_of, level))
        times = part.column("kernel_ns").to_numpy()
        found.append(
            {
                "level": level,
                "job_count": len(part),
                "solved_count": pc.sum(pc.equal(part.column("status"), "solved")).as_py(),
                "kernel_ns_p50": int(np.percentile(times, 50, method="inverted_cdf")),
                "kernel_ns_p99": int(np.percentile(times, 99, method="inverted_cdf")),
                "kernel_ns_max": int(times.max()),
                "kernel_ns_total": int(times.sum()),
                "states_total": pc.sum(part.column("states")).as_py(),
            }
        )
    return lambda: str([sorted(row.items()) for row in found])


def runtimes_duckdb(folder: Path, _rows: int) -> Callable[[], str]:
    """Make them by the query that gold uses."""
    table = runtimes(Lake.open(str(folder / "lake")), game("pips"), [Ask(kind="count")])
    found = table.drop_columns(["game", "ask"]).to_pylist()
    return lambda: str([sorted(row.items()) for row in found])


TASKS = {
    "sort": (sort_own, sort_duckdb),
    "answered": (answered_own, answered_duckdb),
    "runtimes": (runtimes_arrow, runtimes_duckdb),
}


def _child(task: str, who: int, folder: Path, rows: int) -> None:
    pc.sum(pa.array([1]))
    before, begun = time.process_time(), time.perf_counter()
    digest = TASKS[task][who](folder, rows)
    figures = {
        "wall_s": time.perf_counter() - begun,
        "cpu_s": time.process_time() - before,
        "peak_bytes": peak_bytes(os.getpid()),
        "digest": digest(),
    }
    print(json.dumps(figures))


def _measure(task: str, who: int, data: Path, rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in data.iterdir():
            (folder / file.name).symlink_to(file)
        arguments = ["--child", task, str(who), name, "--rows", str(rows)]
        command = [sys.executable, "-m", "benchmarks.kernels.duckdb_compared", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        figures: dict[str, Any] = json.loads(done.stdout)
        out = folder / "out/results/sorted.parquet"
        figures["out_bytes"] = out.stat().st_size if out.exists() else 0
    return figures


def main() -> None:
    """Measure, print, and put the table into the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    add_write(parser)
    given = parser.parse_args()
    if given.child:
        task, who, folder = given.child
        _child(task, int(who), Path(folder), given.rows)
        return
    section = Section(
        name="duckdb_compared",
        title="Sorting, anti-joining and aggregating: ours and DuckDB's",
        command=command_line("kernels.duckdb_compared"),
    )
    table = []
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        prepare(data, given.rows)
        for task in TASKS:
            runs: list[list[dict[str, Any]]] = [[], []]
            for _ in range(given.repeat):
                for who in (0, 1):
                    runs[who].append(_measure(task, who, data, given.rows))
            digests = {run["digest"] for both in runs for run in both}
            if len(digests) > 1:
                sys.exit(f"{task}: the two differ: {digests}")
            for who, label in enumerate((("Arrow" if task == "runtimes" else "ours"), "DuckDB")):
                best = min(runs[who], key=lambda run: run["cpu_s"])
                table.append(
                    [
                        f"{task}, {label}",
                        f"{best['wall_s']:.2f}",
                        f"{best['cpu_s']:.2f}",
                        f"{max(run['peak_bytes'] for run in runs[who]) / 1e6:.0f}",
                        f"{best['out_bytes'] / 1e6:.1f}" if best["out_bytes"] else "",
                    ]
                )
    section.say(
        f"{given.rows:,} rows of answers (half as many in the lake), best of {given.repeat} "
        "alternate runs by processor time; each pair had to say the same digest. DuckDB had "
        f"{MEMORY_LIMIT} for sort and anti-join; the time to import it is in its figures."
    )
    section.table(["task", "s", "CPU s", "peak MB", "file MB"], table)
    finish(section, to_results=given.write)


if __name__ == "__main__":
    main()
