"""What jobs are expected to take: learnt from earlier runs, beginning with what the game says.

The logarithm of a job's kernel time over what its game expects (`Game.cost_s`) is regressed on the
game's features of the board, by ridge regression: with few rows the game's own estimate stands.
Jobs over budget took longer than is known: they count as that, or as expected if that is more. A
model is a few moments, to which every finished run adds the sample that its planner has kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.results.statuses import is_among
from nightgrid.solvers.algebra import Arrays, Ask, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question, question_of
from nightgrid.workers.runs.job_keys import Keys, ids_of
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.runs.run_files import folder

SAMPLE_JOBS = 2048
"""Jobs of a run that a model learns from, at most."""
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
_NEVER_WORKED = (str(Status.INVALID), str(Status.POISON))
_COLUMNS = ("job_id", "status", "kernel_ns")

Floats = npt.NDArray[np.float64]


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
        return replace(
            learnt,
            spent_s=keep * self.spent_s + float(took_s[~censored].sum()),
            expected_s=keep * self.expected_s + float(said_s[~censored].sum()),
            runs=self.runs,
        )


def cost_path(question: Question) -> str:
    """Name the file of what is known of how long the jobs of a question take."""
    return f"costs/{question.game}-{question.cost_id}.json"


def read_model(lake: Lake, question: Question, names: tuple[str, ...]) -> CostModel:
    """Read what is known of a question.

    It is nothing, where no run has taught of these features, or the file is damaged.
    """
    width = len(names) + 1
    known = read_hint(lake, cost_path(question), lambda told: _model_from_json(told, names))
    return known or CostModel(
        names=names,
        moments=np.zeros((width, width)),
        targets=np.zeros(width),
        low=np.full(width - 1, np.inf),
        high=np.full(width - 1, -np.inf),
    )


def _model_from_json(told: dict[str, Any], names: tuple[str, ...]) -> CostModel | None:
    """Read a model of these features; None: it is of others.

    Raises KeyError, TypeError or ValueError for what is no model.
    """
    if tuple(told["names"]) != names:
        return None
    count = len(names)
    shapes = {"moments": (count + 1, count + 1), "targets": (count + 1,)}
    shapes |= {"low": (count,), "high": (count,)}
    arrays = {name: np.array(told[name], np.float64) for name in shapes}
    numbers = {name: float(told[name]) for name in ("spent_s", "expected_s")}
    errors = {name: _number_or_none(told[name]) for name in ("error_log2_p50", "error_log2_p90")}
    if any(arrays[name].shape != shape for name, shape in shapes.items()):
        raise ValueError(f"expected {count} features")
    finite = [bool(np.isfinite(value).all()) for value in arrays.values()]
    if not all((*finite, *map(math.isfinite, numbers.values()))):
        raise ValueError("expected numbers")
    runs = tuple(map(str, told["runs"]))
    fields: dict[str, Any] = {**arrays, **numbers, **errors}
    return CostModel(names=names, runs=runs, **fields)


def _number_or_none(value: Any) -> float | None:
    return None if value is None else float(value)


def write_model(lake: Lake, question: Question, model: CostModel) -> None:
    """Keep what is known of a question."""
    told = asdict(model)
    told |= {k: value.tolist() for k, value in told.items() if isinstance(value, np.ndarray)}
    write_json(lake, cost_path(question), told, checked=True)


class Estimator:
    """Estimates what jobs take while a run is planned, and keeps a sample of them to learn from."""

    def __init__(self, lake: Lake, game: Game[Any, Any], ask: Ask) -> None:
        self._lake, self._game, self._ask = lake, game, ask
        self._model: CostModel | None = None
        self._stride = 1
        self._keys = np.empty((0, 2), np.uint64)
        self._own_s = np.empty(0)
        self._features: Floats | None = None

    def expect(self, keys: Keys, arrays: Arrays) -> Floats:
        """Estimate the seconds that each row of columns takes one core; `keys` name the jobs."""
        names, features = self._game.features(arrays)
        if self._model is None or self._features is None:
            self._model = read_model(self._lake, question_of(self._game, self._ask), names)
            self._features = np.empty((0, len(names)))
        own_s = np.maximum(self._game.cost_s(arrays, self._ask), COST_BOUNDS_S[0])
        self._keys = np.concatenate([self._keys, keys])
        self._own_s = np.concatenate([self._own_s, own_s])
        self._features = np.concatenate([self._features, features])
        self._thin()
        if not self._model.rows:
            return own_s
        found_s = self._model.factor * own_s * np.exp2(self._model.log2_over(features)) + ROW_S
        return np.clip(found_s, *COST_BOUNDS_S)

    def _thin(self) -> None:
        """Keep the jobs whose id a power of two divides: the same, whenever they come."""
        assert self._features is not None
        while True:
            kept = self._keys[:, 1] % np.uint64(self._stride) == 0
            self._keys, self._own_s = self._keys[kept], self._own_s[kept]
            self._features = self._features[kept]
            if len(self._keys) <= SAMPLE_JOBS:
                return
            self._stride *= 2

    def keep_sample(self, run_id: str) -> None:
        """Put the sample into the run's folder."""
        if self._model is None or self._features is None:
            return
        sample = {
            "names": list(self._model.names),
            "job_ids": ids_of(self._keys).to_pylist(),
            "own_s": self._own_s.round(9).tolist(),
            "features": self._features.round(6).tolist(),
        }
        write_json(self._lake, _sample_path(run_id), sample, checked=True)


def _sample_path(run_id: str) -> str:
    return f"{folder(run_id)}/sample.json"


def _sample_from_json(told: dict[str, Any]) -> dict[str, Any]:
    """Read a sample. Raises KeyError, TypeError or ValueError for what is none."""
    names, jobs = tuple(map(str, told["names"])), list(map(str, told["job_ids"]))
    own_s = np.array(told["own_s"], np.float64)
    features = np.array(told["features"], np.float64).reshape(len(jobs), len(names))
    if own_s.shape != (len(jobs),) or not np.isfinite(features).all() or not (own_s > 0).all():
        raise ValueError("expected what each job was expected to take, and its features")
    return {"names": names, "job_ids": jobs, "own_s": own_s, "features": features}


class Lesson:
    """What the jobs of a run's sample took, noted while its results are written.

    Runs that were planned by earlier versions have no sample.
    """

    def __init__(self, lake: Lake, run: Run) -> None:
        self._lake, self._run = lake, run
        self._sample = read_hint(lake, _sample_path(run.run_id), _sample_from_json)
        self._took = [RESULTS.empty_table().select(_COLUMNS)]

    def note(self, results: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Hand result rows on, and note those that were worked for jobs of the sample."""
        jobs = pa.array(self._sample["job_ids"] if self._sample else [], pa.string())
        for rows in results:
            never = is_among(rows.column("status"), _NEVER_WORKED)
            wanted = pc.and_not(pc.is_in(rows.column("job_id"), value_set=jobs), never)
            self._took.append(rows.select(_COLUMNS).filter(wanted))
            yield rows

    def learn(self) -> None:
        """Add what was noted to what is known of the run's question, once."""
        sample, run = self._sample, self._run
        if sample is None:
            return
        model = read_model(self._lake, run.question, sample["names"])
        took = pa.concat_tables(self._took)
        if not took.num_rows or run.run_id in model.runs:
            return
        place = {job: i for i, job in enumerate(sample["job_ids"])}
        at = np.array([place[job] for job in took.column("job_id").to_pylist()])
        learnt = model.learn(
            sample["features"][at],
            sample["own_s"][at],
            took.column("kernel_ns").to_numpy() / 1e9,
            pc.equal(took.column("status"), str(Status.OVER_BUDGET)).to_numpy(),
        )
        write_model(
            self._lake, run.question, replace(learnt, runs=(*model.runs, run.run_id)[-RUNS_KEPT:])
        )
