"""Answers: which results make it needless to work a job again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.results.results import RESULTS_FOLDER
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.question import Question
from nightgrid.workers.runs.job_keys import Keys, KeySet, keys_of
from nightgrid.workers.runs.manifest import folder

FINAL = pa.array([str(s) for s in (Status.SOLVED, Status.UNSOLVABLE, Status.INVALID)], pa.string())
"""Statuses that no budget changes."""
_COLUMNS = ("job_id", "game", "ask", "status", "run_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The jobs that need no work."""

    final: KeySet
    """With a result that no budget changes."""
    covered: KeySet
    """Over budget or poison in a run that had at least the budget in question."""

    def hold(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Tell of each job whether it needs no work."""
        return self.final.holds(keys) | self.covered.holds(keys)


def read_answers(
    lake: Lake, question: Question, budget: Budget, *, but_of: str | None = None
) -> Answers:
    """Read which jobs need no work within a budget, from all results but those of run `but_of`.

    Over budget and poison count only if the run that said so had at least this budget of nodes,
    table bytes and seconds each; a run whose budget the lake does not know does not count.
    """
    answers = Answers(final=KeySet(), covered=KeySet())
    enough: dict[str, bool] = {}
    for found in lake.scan(RESULTS_FOLDER, RESULTS, _COLUMNS):
        asked = pc.and_(
            pc.equal(found.column("game"), question.game),
            pc.equal(found.column("ask"), str(question.ask)),
        )
        rows = found.filter(pc.and_(asked, pc.not_equal(found.column("run_id"), but_of or "")))
        final = pc.is_in(rows.column("status"), value_set=FINAL)
        answers.final.add(keys_of(rows.column("job_id").filter(final)))
        others = rows.filter(pc.invert(final))
        for run_id in pc.unique(others.column("run_id")).to_pylist():
            if run_id not in enough:
                enough[run_id] = _had(lake, run_id, budget)
        runs = pa.array([run_id for run_id, had in enough.items() if had], pa.string())
        covered = pc.is_in(others.column("run_id"), value_set=runs)
        answers.covered.add(keys_of(others.column("job_id").filter(covered)))
    return answers


def _had(lake: Lake, run_id: str, budget: Budget) -> bool:
    plan = read_json(lake, f"{folder(run_id)}/plan.json")
    if plan is None:
        return False
    had = Budget(**plan["budget"])
    return (
        had.nodes >= budget.nodes
        and had.table_bytes >= budget.table_bytes
        and had.seconds >= budget.seconds
    )
