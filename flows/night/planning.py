"""Plan what a night has to solve of a game: the unanswered boards of the lake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.ingest.editions import clued_boards, editions_path
from nightgrid.archive.ingest.puzzles import puzzles_folder, read_puzzle_table, subjects_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULTS_FOLDER
from nightgrid.archive.skipped_files import skipped_files
from nightgrid.archive.state import InputFingerprint, read_state, write_state
from nightgrid.archive.words.binding import bind_game
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question, question_of
from nightgrid.workers.runs.finishing.ended import ensure_plan
from nightgrid.workers.runs.job_keys import Answers, Known, name_jobs
from nightgrid.workers.runs.manifest import Run, has_plan, open_run, read_done
from nightgrid.workers.runs.plan.plan_pass import Asking
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.unanswered_jobs import Retry, statuses_of


def note_run(lake: Lake, game: str, ask: Ask, run_id: str | None) -> None:
    """Record the run that a night has started in the state of the game; None once it has ended.

    Otherwise a night that finds new puzzles would plan another run and abandon the work done for
    this one.
    """
    write_state(lake, game, f"begun {ask}", {"run_id": run_id}, durable=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """The rest to solve of one ask."""

    question: Question
    known: int
    """Jobs that the lake had answered or given up."""
    run: Run | None = None
    """The run for the others; None if there are none."""
    resumed: bool = False
    """Whether an earlier night started it."""

    @property
    def jobs(self) -> int:
        """Number of jobs of the run."""
        return 0 if self.run is None else self.run.job_count

    @property
    def poison(self) -> int:
        """Jobs among the known ones that the lake has only as poison."""
        return 0 if self.run is None else self.run.poison_count


def bound_game(night: NightSettings, game: NightGame, ask: Ask | None = None) -> Game[Any, Any]:
    """Bind a game to the rules and the lexicon of a night, for an ask."""
    # The ranker only supports the game's own rules, and has words of its own.
    rules = "" if ask is not None and ask.kind == "meant" else game.rules
    return bind_game(game.game, rules, game.lexicon, night.lake, ask)


def plan_ask(
    night: NightSettings, game: Game[Any, Any], ask: Ask, retry: Retry | None
) -> PlannedRun:
    """Resume the run that an earlier night has started, or plan the unanswered boards.

    If no file of results and boards has changed since each board had a final answer, neither is
    read: there is nothing to plan.
    """
    lake, question = night.lake, question_of(game, ask)
    begun = _begun_run(night, question)
    if begun is not None:
        return PlannedRun(question=question, known=begun.answered_count, run=begun, resumed=True)
    fingerprint = InputFingerprint(
        lake,
        game.name,
        f"planned {ask}",
        question.to_json(),
        folders=[RESULTS_FOLDER, puzzles_folder(game.name)],
        files=[editions_path(game.name)] if ask.kind == "meant" else [],
    )
    again = statuses_of(retry)
    # Invalid boards counted as answered then.
    saved = None if Status.INVALID in again else fingerprint.saved_result()
    if saved is not None:
        return PlannedRun(question=question, known=saved["known"])
    workers = night.workers
    asking = Asking(
        lake,
        game,
        ask,
        workers.budget,
        worker_count=workers.batch_processes,
        retry=retry,
        solution_bytes=workers.budget_solution_bytes,
    )
    answers = asking.read_answers()
    puzzles, known = _open_boards(lake, question, answers)
    if not len(puzzles):
        # Damaged results have to be reported every night.
        if not any(path.startswith(RESULTS_FOLDER) for path in skipped_files()):
            fingerprint.save({"known": known})
        return PlannedRun(question=question, known=known)
    run_id = plan_run(asking, puzzles, answers, known)
    run = open_run(lake, run_id)
    if run.job_count:
        note_run(lake, game.name, ask, run_id)
    return PlannedRun(question=question, known=run.answered_count, run=run)


def _open_boards(lake: Lake, question: Question, answers: Answers) -> tuple[pa.Table, int]:
    """Read the boards that may have no answer, and count those left out because they have one."""
    is_clued = question.ask.kind == "meant"
    boards = (clued_boards if is_clued else read_puzzle_table)(lake, question.game)
    names = name_jobs(question, subjects_of(boards))
    known = pa.array(answers.have(names, Known.FINAL))
    return boards.filter(pc.invert(known)), pc.sum(known).as_py() or 0


def _begun_run(night: NightSettings, question: Question) -> Run | None:
    """Return the run that a killed night has left, if it still answers this night's question."""
    lake = night.lake
    noted = read_state(lake, question.game, f"begun {question.ask}")
    if noted is None or noted["run_id"] is None:
        return None
    run_id = noted["run_id"]
    run = ensure_plan(lake, run_id)
    if run is None or not has_plan(lake, run_id):
        return None
    if (run.question, run.budget) != (question, night.workers.budget):
        return None
    return run if read_done(lake, run.run_id) is None else None
