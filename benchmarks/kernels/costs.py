"""How well the cost model expects what jobs take: half of a lake's jobs, told from the other half.

python -m benchmarks.kernels.costs LAKE [LAKE ...] [--write]

Takes the results and manifests of finished runs as they lie in the lakes, by game and ask. Says
how far single jobs are off, in powers of two, and the sum of all of them, as a factor.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.solvers.question import Question
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.manifest import Run, open_run
from nightgrid.workers.runs.plan.costs import COST_BOUNDS_S, read_model

SEED = 1
ROWS_MIN = 20
ROWS_MAX = 100_000


def rows_of(lake: Lake, runs: list[Run]) -> pa.Table:
    """Join the boards of runs with what their jobs took, each job once."""
    took = lake.read_table("results", RESULTS, ["job_id", "status", "kernel_ns"])
    took = took.filter(pc.is_in(took.column("status"), pa.array(["solved", "unsolvable"])))
    boards = []
    for run in runs:
        path = f"runs/run={run.run_id}/manifest/seg-00000.parquet"
        for i, _ in enumerate(run.segments[0].chunk_rows):
            boards.append(lake.read_row_group(path, i))
            if sum(len(board) for board in boards) > ROWS_MAX:
                break
    rows = pa.concat_tables(boards)
    rows = rows.take(pa.array(np.unique(rows.column("job_id").to_numpy(), return_index=True)[1]))
    at = pc.index_in(rows.column("job_id"), value_set=took.column("job_id").combine_chunks())
    rows = rows.filter(pc.is_valid(at))
    return rows.append_column("kernel_ns", took.column("kernel_ns").take(at.drop_null()))


def figures(runs: list[Run], rows: pa.Table) -> tuple[object, ...]:
    """Learn from half of the rows, and compare the other half with what that says."""
    question = runs[0].question
    room = game(question.game, question.rules)
    took_s = rows.column("kernel_ns").to_numpy() / 1e9
    arrays = arrays_of(rows.drop_columns(["kernel_ns"]))
    own_s = np.maximum(room.cost_s(arrays, question.ask), COST_BOUNDS_S[0])
    names, features = room.features(arrays)
    order = np.random.default_rng(SEED).permutation(len(rows))
    seen, unseen = order[: len(order) // 2], order[len(order) // 2 :]
    model = read_model(Lake.open("no-such-lake"), question, names)
    model = model.learn(features[seen], own_s[seen], took_s[seen], np.zeros(len(seen), np.bool_))
    own_error = np.abs(np.log2(took_s / own_s))[unseen]
    median_s = own_s * np.exp2(model.log2_over(features))
    error = np.abs(np.log2(took_s / median_s))[unseen]
    said_s = model.factor * median_s
    return (
        question.game,
        str(question.ask),
        f"{len(rows):,}",
        f"{np.median(own_error):.2f}",
        f"{np.quantile(own_error, 0.9):.2f}",
        f"{np.median(error):.2f}",
        f"{np.quantile(error, 0.9):.2f}",
        f"{said_s[unseen].sum() / took_s[unseen].sum():.2f}",
    )


def main() -> int:
    """Compare, question by question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lakes", nargs="+", metavar="LAKE")
    add_write(parser)
    options = parser.parse_args()
    found = []
    for url in options.lakes:
        lake = Lake.open(url)
        runs: dict[Question, list[Run]] = {}
        for path in lake.list("runs"):
            if path.endswith("/DONE.json"):
                run = open_run(lake, path.split("/")[1].removeprefix("run="))
                if run.job_count:
                    runs.setdefault(run.question, []).append(run)
        for same in runs.values():
            rows = rows_of(lake, same)
            if len(rows) >= ROWS_MIN:
                found.append(figures(same, rows))
    section = Section(
        name="costs",
        title="What jobs are expected to take, and what they took",
        command="python -m benchmarks.kernels.costs LAKE …",
    )
    section.table(
        ("game", "ask", "jobs", "game alone p50", "p90", "learnt p50", "p90", "sum of all"), found
    )
    section.say(
        "Learnt from one half of the jobs and compared with the other. p50 and p90: how far half "
        "and nine tenths of the jobs are from what was expected, in powers of two; first by what "
        "the game says of itself. Sum of all: what was expected of them together, over what they "
        "took."
    )
    finish(section, to_results=options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
