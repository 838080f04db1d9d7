"""What jobs are expected to take: learnt from earlier runs, beginning with what the game says.

The logarithm of a job's kernel time over what its game expects (`Game.cost_s`) is regressed on the
game's features of the board, by ridge regression: with few rows the game's own estimate stands.
Jobs over budget took longer than is known: they count as that, or as expected if that is more. A
model is a few moments, to which every finished run adds a sample of its jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from archive.columns import arrays_of
from archive.games import open_game
from archive.lake import Lake
from archive.runfiles import Run, read_json, write_json
from archive.tables import RESULTS
from solvers.algebra import Arrays, Ask, Game, Status, digest

SAMPLE_ROWS = 32_768
"""Jobs of a run that a model learns from, about."""
SAMPLE_CHUNKS = 64
RIDGE = 5.0
"""Rows that the game's own estimate is worth, for the factor before it and for each feature."""
MEMORY_ROWS = 200_000
"""Beyond so many rows what was learnt before counts half: machines and kernels change."""
RUNS_KEPT = 64
"""Runs of which is known that they have been learnt from."""
FACTOR_BOUNDS = (0.25, 16.0)
FACTOR_ROWS = 30
"""Rows from which on the factor between sums counts for more than half of its logarithm."""
ROW_S = 5e-6
"""What a job takes beside its kernel, at least: its rows in files."""
COST_BOUNDS_S = (1e-6, 1e7)
_NEVER_WORKED = pa.array([str(Status.INVALID), str(Status.POISON)], pa.string())
_COLUMNS = ("job_id", "status", "kernel_ns")

Floats = npt.NDArray[np.float64]
Estimator = Callable[[Arrays], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """What is known of the jobs of one question: sums over rows (1, features), and their log2."""

    names: tuple[str, ...]
    moments: Floats
    """Sum of products of the columns, (features + 1)²."""
    targets: Floats
    """Sum of products of the columns with log2 of the time over the game's estimate."""
    low: Floats
    high: Floats
    """Bounds of each feature in the rows seen: beyond them nothing is known."""
    spent_s: float = 0.0
    expected_s: float = 0.0
    """Sums of what jobs took, and of what the regression said: its logarithms have another mean."""
    error_log2_p50: float | None = None
    error_log2_p90: float | None = None
    """How far the last run's jobs were from what was expected before."""
    runs: tuple[str, ...] = ()

    @property
    def rows(self) -> float:
        """Rows that the model has learnt from; older ones count less."""
        return float(self.moments[0, 0])

    @property
    def factor(self) -> float:
        """What the sum of many jobs takes, over the sum of what they are expected to."""
        if not self.expected_s:
            return 1.0
        found = float(np.clip(self.spent_s / self.expected_s, *FACTOR_BOUNDS))
        return found ** (self.rows / (self.rows + FACTOR_ROWS))

    def log2_over(self, features: Floats) -> Floats:
        """Say by how much, as log2, rows take longer than the game says."""
        if not self.rows:
            return np.zeros(len(features))
        mean = self.moments[0, 1:] / self.rows
        spread = np.sqrt(np.maximum(np.diag(self.moments)[1:] / self.rows - mean**2, 0.0))
        scale = np.where(spread > 1e-9, spread, np.inf)
        # Columns are centred and scaled, so that the ridge means the same for each of them.
        turn = np.eye(len(mean) + 1)
        turn[1:, 0] = -mean / scale
        turn[1:, 1:] = np.diag(1.0 / scale)
        scaled = turn @ self.moments @ turn.T + RIDGE * np.eye(len(turn))
        weights = turn.T @ np.linalg.solve(scaled, turn @ self.targets)
        bounded = np.clip(features, self.low, self.high)
        return np.asarray(weights[0] + bounded @ weights[1:])

    def learn(self, features: Floats, own_s: Floats, took_s: Floats, censored: Any) -> CostModel:
        """Add jobs: what their game expected of them, and what they took at least, or exactly."""
        columns = np.column_stack([np.ones(len(features)), features])
        before = self.log2_over(features)
        over = np.log2(np.maximum(took_s, COST_BOUNDS_S[0])) - np.log2(own_s)
        over = np.where(censored, np.maximum(over, before), over)
        keep = 0.5 if self.rows > MEMORY_ROWS else 1.0
        error = np.abs(over - before)[~censored]
        learnt = CostModel(
            names=self.names,
            moments=keep * self.moments + columns.T @ columns,
            targets=keep * self.targets + columns.T @ over,
            low=np.minimum(self.low, features.min(axis=0)),
            high=np.maximum(self.high, features.max(axis=0)),
            error_log2_p50=float(np.median(error)) if len(error) else self.error_log2_p50,
            error_log2_p90=float(np.quantile(error, 0.9)) if len(error) else self.error_log2_p90,
        )
        said_s = own_s * np.exp2(learnt.log2_over(features))
        return CostModel(
            **{name: getattr(learnt, name) for name in learnt.__slots__ if name not in _SUMS},
            spent_s=keep * self.spent_s + float(took_s[~censored].sum()),
            expected_s=keep * self.expected_s + float(said_s[~censored].sum()),
            runs=self.runs,
        )


_SUMS = ("spent_s", "expected_s", "runs")


def model_path(game: Game[Any, Any], ask: Ask) -> str:
    """Name the file of what is known of a question to a game, as it is bound."""
    words = (game.name, game.rules, game.lexicon_id, game.solver_version, ask.kind)
    return f"costs/{game.name}-{digest('costs', *words)}.json"


def read_model(lake: Lake, game: Game[Any, Any], ask: Ask, names: tuple[str, ...]) -> CostModel:
    """Read what is known of a question; nothing, if nobody has learnt of these features."""
    told = read_json(lake, model_path(game, ask))
    width = len(names) + 1
    if told is None or tuple(told["names"]) != names:
        return CostModel(
            names=names,
            moments=np.zeros((width, width)),
            targets=np.zeros(width),
            low=np.full(width - 1, np.inf),
            high=np.full(width - 1, -np.inf),
        )
    arrays = {name: np.array(told[name]) for name in ("moments", "targets", "low", "high")}
    runs = tuple(told["runs"])
    return CostModel(**{**told, **arrays, "names": names, "runs": runs})


def estimator(lake: Lake, game: Game[Any, Any], ask: Ask) -> Estimator:
    """Return what estimates the seconds that each row of columns takes one core."""
    model: CostModel | None = None

    def estimate(arrays: Arrays) -> Floats:
        nonlocal model
        names, features = game.features(arrays)
        if model is None:
            model = read_model(lake, game, ask, names)
        own_s = game.cost_s(arrays, ask)
        if not model.rows:
            return own_s
        found_s = model.factor * own_s * np.exp2(model.log2_over(features)) + ROW_S
        return np.clip(found_s, *COST_BOUNDS_S)

    return estimate


def learn_costs(lake: Lake, run: Run) -> None:
    """Add a sample of a run's jobs to what is known of its question, once.

    Its results lie in the lake. Nothing is learnt of a solver that is not the present one.
    """
    game = open_game(lake, run.game, run.rules, run.lexicon_id)
    if game.solver_version != run.solver_version:
        return
    rows = _sample(lake, run)
    took = _took(lake, run, rows.column("job_id").combine_chunks())
    at = pc.index_in(rows.column("job_id"), value_set=took.column("job_id").combine_chunks())
    rows, took = rows.filter(pc.is_valid(at)), took.take(at.drop_null())
    arrays = arrays_of(rows)
    names, features = game.features(arrays)
    model = read_model(lake, game, run.ask, names)
    if not len(features) or run.run_id in model.runs:
        return
    learnt = model.learn(
        features,
        np.maximum(game.cost_s(arrays, run.ask), COST_BOUNDS_S[0]),
        took.column("kernel_ns").to_numpy() / 1e9,
        pc.equal(took.column("status"), str(Status.OVER_BUDGET)).to_numpy(),
    )
    told = asdict(learnt)
    told |= {name: value.tolist() for name, value in told.items() if isinstance(value, np.ndarray)}
    told["runs"] = [*model.runs, run.run_id][-RUNS_KEPT:]
    write_json(lake, model_path(game, run.ask), told)


def _took(lake: Lake, run: Run, jobs: pa.Array) -> pa.Table:
    """Read what those of some jobs took that were worked."""
    found = [RESULTS.empty_table().select(_COLUMNS)]
    for rows in lake.scan(f"results/{run.run_id}.parquet", RESULTS, _COLUMNS):
        never = pc.is_in(rows.column("status"), value_set=_NEVER_WORKED)
        wanted = pc.is_in(rows.column("job_id"), value_set=jobs)
        found.append(rows.filter(pc.and_not(wanted, never)))
    return pa.concat_tables(found)


def _sample(lake: Lake, run: Run) -> pa.Table:
    """Read the boards of some chunks from all over the plan, each job once."""
    path = f"runs/run={run.run_id}/manifest/seg-00000.parquet"
    sizes = run.segments[0].chunk_rows
    chunks = min(len(sizes), SAMPLE_CHUNKS)
    tables = []
    rows = 0
    # Expensive chunks stand at the front of a batch and cheap ones at its end.
    for i in np.random.default_rng(len(sizes)).permutation(len(sizes))[:chunks].tolist():
        tables.append(lake.read_row_group(path, i))
        rows += sizes[i]
        if rows >= SAMPLE_ROWS:
            break
    table = pa.concat_tables(tables)
    _, first = np.unique(table.column("job_no").to_numpy(), return_index=True)
    return table.take(pa.array(np.sort(first)))
