"""What is asked of puzzles, and which of their jobs are open: neither repeated nor answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.ingest.puzzles import subjects_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULTS_FOLDER
from nightgrid.archive.skipped_files import skipped_files
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question, question_of
from nightgrid.workers.runs.finishing.ended import set_damaged_aside
from nightgrid.workers.runs.job_keys import Answers, Keys, KeySet, name_jobs, read_answers
from nightgrid.workers.runs.retry import Retry, statuses_of

Split = Literal["auto", "ahead", "never"]


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of puzzles: in which lake, by which game, within which budget of each job."""

    lake: Lake
    game: Game[Any, Any]
    """Bound to its rules and lexicon."""
    ask: Ask
    budget: Budget
    worker_count: int = 2
    """Processes that chunks are cut for."""
    retry: Retry | None = None
    """Which jobs are worked again that a run gave up within this budget."""
    split: Split = "auto"
    """Whether jobs are divided before a worker begins them."""
    expected_s: float = 0.0
    """What every job is expected to take, in the place of a smaller estimate by its size."""
    solution_bytes: int | None = None
    """How many bytes of solutions a job may list; None: what the worker's setting says."""

    @property
    def question(self) -> Question:
        """What the answers depend on."""
        return question_of(self.game, self.ask)

    def read_answers(self) -> Answers:
        """Read which jobs need no work; damaged results are set aside, and are no answers."""
        again = statuses_of(self.retry)
        answers = read_answers(
            self.lake, self.question, self.budget, again=again, listed_bytes=self.solution_bytes
        )
        if any(path.startswith(f"{RESULTS_FOLDER}/") for path in skipped_files()):
            set_damaged_aside(self.lake)
        return answers


class OpenJobs:
    """Finds the open jobs of a stream of puzzles: what is repeated or answered is left out."""

    def __init__(self, question: Question, answers: Answers) -> None:
        self.question, self._answers = question, answers
        self.seen = KeySet()
        """Jobs that were met: each is found open once at most."""
        self.open_count = self.answered_count = self.repeated_count = 0
        self.poison_count = self.again_count = 0
        """Jobs among those answered that are poison; open ones that a run has given up before."""
        self.job_count = self.divided_count = self.chunk_count = 0
        self.cost_s = 0.0
        """Seconds that one core is expected to take for all chunks."""
        self._key_sum = np.zeros(2, np.uint64)

    def find(self, puzzles: pa.Table) -> tuple[Keys, npt.NDArray[np.bool_]]:
        """Name the job of every row, and tell which are open.

        Raises PermanentError for puzzles of another game.
        """
        if pc.any(pc.not_equal(puzzles.column("game"), self.question.game)).as_py():
            raise PermanentError(f"expected puzzles of game {self.question.game!r} only")
        keys = name_jobs(self.question, subjects_of(puzzles))
        fresh = self.seen.add(keys)
        is_open = fresh & ~self._answers.hold(keys)
        final, poison = self._answers.final.holds(keys), self._answers.poison.holds(keys)
        self.poison_count += int((fresh & poison & ~final).sum())
        self.again_count += int((is_open & self._answers.again.holds(keys)).sum())
        self.repeated_count += int((~fresh).sum())
        self.answered_count += int((fresh & ~is_open).sum())
        self.open_count += int(is_open.sum())
        halves = keys[is_open].view(">u8").reshape(-1, 2)
        self._key_sum += halves.sum(axis=0, dtype=np.uint64)
        return keys, is_open

    def run_id(self, budget: Budget, solution_bytes: int | None) -> str:
        """Name the run of the jobs that were found open, whatever their order."""
        jobs = [str(self.open_count), *(f"{half:016x}" for half in self._key_sum.tolist())]
        if solution_bytes is not None:
            jobs.append(str(solution_bytes))
        return self.question.run_id(budget, tuple(jobs))
