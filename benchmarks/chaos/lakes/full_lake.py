"""A small lake that has a file of each kind: nights, counts, jobs on demand, rankings and keys."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from nightgrid.archive.games.letterboxed.payload import read_puzzles
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.payloads.published import Published
from nightgrid.service.cli.app import main as command
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand import submitting
from nightgrid.workers.ondemand.keeper import Keeper
from nightgrid.workers.ondemand.submissions import list_jobs
from nightgrid.workers.ondemand.submitting import submit
from nightgrid.workers.settings import load_settings

SAMPLES = Path(__file__).parents[3] / "service" / "sample"
DAYS = {"pips": 4, "strands": 1, "letterboxed": 2}
COUNTED = "pips:n=4,seed=2"
"""A count that has ended."""
LISTED = ("pips:n=2,seed=8", "--ask", "all")
BEGUN = "pips:n=3,seed=5"
"""A count that was killed after its first chunk."""
CANCELLED = "pips:n=3,seed=6"
NO_SERVER = "redis://127.0.0.1:9/0"
"""No program listens there."""
INLINE = ("--inline", "--no-prefect")
MANY_FILES = {
    "NIGHTGRID_TUNING": '{"listing_rows": 2, "listing_row_bytes": 1, "listing_chunk_bytes": 1}'
}
"""Constants with which few solutions have files of their own."""


class _KilledError(BaseException):
    """What ends a process here, as a kill would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FullLake:
    """A lake and what was asked of it."""

    folder: Path
    """Holds `lake` and `source`."""
    runs: dict[str, str]
    """What became of some runs, by their ids."""
    jobs: tuple[str, ...]
    """Ids of jobs on demand that were answered."""
    open_job: str
    """One that is wanted and not worked."""

    @property
    def lake(self) -> Lake:
        """Open the lake."""
        return Lake.open(str(self.folder / "lake"))

    @property
    def night(self) -> tuple[str, ...]:
        """Write the words of a night over the same source."""
        places = (("--source", f"{game}={self.folder / 'source' / game}") for game in DAYS)
        return ("nightly", *(word for place in places for word in place), *INLINE)

    def copy(self, folder: Path) -> FullLake:
        """Copy the lake to a folder; files of a lake are written over, so links would not do."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return replace(self, folder=folder)


def make_full_lake(folder: Path) -> FullLake:
    """Make the lake."""
    for game, days in DAYS.items():
        (folder / "source" / game).mkdir(parents=True)
        for path in sorted((SAMPLES / game).glob("*.json"))[:days]:
            shutil.copy(path, folder / "source" / game)
    _contradict(max((folder / "source" / "letterboxed").iterdir()))
    (folder / "source" / "pips" / "2026-01-05.json").write_bytes(b"{")
    made = FullLake(folder=folder, runs={}, jobs=(), open_job="")
    with environment(folder):
        run(*made.night, codes=(0, 5))
        with _named(made, "ENDED"):
            run("count", COUNTED, *INLINE)
        run("count", "source/pips", *INLINE, codes=(0, 5))
        with mock.patch.dict(os.environ, {**MANY_FILES, "NIGHTGRID_SPLIT": "ahead"}):
            run("count", *LISTED, *INLINE)
        jobs, open_job = _ask(made.lake)
        run("rank", "--inline")
        run("keys", "add", "alice")
        # The night after finds the ranking and knows all.
        run(*made.night, codes=(0, 5))
        run("report", "-o", "pages")
        with _named(made, "CANCELLED"):
            _begin("count", CANCELLED, *INLINE)
        run("count", "--cancel", next(run for run, end in made.runs.items() if end == "CANCELLED"))
        with _named(made, "BEGUN"):
            _begin("count", BEGUN, *INLINE)
        shutil.copy(SAMPLES / "pips" / "2026-01-06.json", folder / "source" / "pips")
        with _named(made, "NIGHT"):
            _begin(*made.night)
    return replace(made, jobs=jobs, open_job=open_job)


def _contradict(path: Path) -> None:
    """Let a payload of Letter Boxed say of the day before what that day did not."""
    payload = json.loads(path.read_text())
    path.write_text(json.dumps({**payload, "yesterdaysSides": ["ABC", "DEF", "GHI", "JKL"]}))


@contextmanager
def _named(made: FullLake, state: str) -> Iterator[None]:
    """Give a name to the run with most files of those that begin meanwhile."""
    before = set(made.lake.folders("runs"))
    yield
    new = [path for path in made.lake.folders("runs") if "run=" in path and path not in before]
    new.sort(key=lambda path: len(made.lake.list(path)))
    made.runs[new[-1].removeprefix("runs/run=")] = state


@contextmanager
def environment(folder: Path) -> Iterator[None]:
    """Work in a folder with a lake in it, without a server, and with no settings but these."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("NIGHTGRID_")}
    told = {"NIGHTGRID_LAKE": str(folder / "lake"), "NIGHTGRID_REDIS_URL": NO_SERVER}
    told["NIGHTGRID_VAR_DIR"] = str(folder / "var")
    before = Path.cwd()
    with mock.patch.dict(os.environ, {**kept, **told}, clear=True):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run(*words: str, codes: Sequence[int] = (0,)) -> None:
    """Run a command in this process, silently."""
    with silent() as told:
        code = command(words)
        text = told.read_text()
    if code not in codes:
        raise AssertionError(f"nightgrid {' '.join(words)} ended with {code}: {text}")


@contextmanager
def silent() -> Iterator[Path]:
    """Let what this process writes go to a file."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        kept = [os.dup(1), os.dup(2)]
        into = os.open(told, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(into, 1)
        os.dup2(into, 2)
        try:
            yield told
        finally:
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            for number in (into, *kept):
                os.close(number)


def _begin(*words: str) -> None:
    """Begin a count or a night, and end its process after its first chunks."""
    wait = InlineOutbox.wait

    def dies(self: InlineOutbox, *arguments: object) -> object:
        wait(self, *arguments)  # type: ignore[arg-type]
        raise _KilledError

    with mock.patch.object(InlineOutbox, "wait", dies):
        try:
            run(*words)
        except _KilledError:
            return
    raise AssertionError(f"nightgrid {' '.join(words)} ended")


def _ask(lake: Lake) -> tuple[tuple[str, ...], str]:
    """Ask and answer jobs on demand; leave one open and one cancelled."""
    settings = load_settings()
    boards = [generate(PRESETS["easy"], 10**6 + number)[0] for number in range(5)]
    asks = [Ask(kind=kind) for kind in ("first", "all", "count")]
    with mock.patch.object(submitting, "wake_keeper"):
        jobs = [
            submit(lake, board, ask, settings=settings)
            for board, ask in zip(boards, asks, strict=False)
        ]
        # Its words travel through the lake.
        (words, *_) = read_puzzles((SAMPLES / "letterboxed" / "2026-01-05.json").read_bytes(), "")
        assert isinstance(words, Published)
        submit(lake, words.puzzle, asks[0], game="letterboxed", settings=settings)
        keeper = Keeper(lake, settings, InlineOutbox(lake, settings))
        while list_jobs(lake):
            keeper.turn(0.0)
        left, cancelled = (
            submit(lake, board, Ask(kind="count"), settings=settings) for board in boards[3:]
        )
        run("cancel", cancelled)
    return tuple(jobs), left


def one_of_each(full: FullLake) -> dict[str, str]:
    """Choose a file of each kind that a lake has, by a name for the kind: of Pips, if there is one.

    A file of a run that has ended is of another kind than one of a run that has not.
    """
    found: dict[str, str] = {}
    for path in sorted(full.lake.list(""), key=lambda path: "pips" not in path):
        name = path
        for pattern, text in _NAMES:
            name = re.sub(pattern, text, name)
        if path.startswith("runs/run="):
            state = full.runs.get(path.split("/")[1].removeprefix("run="))
            if state is None:
                continue
            name = name.replace("ID", state, 1)
        found.setdefault(name, path)
    return dict(sorted(found.items()))


_NAMES = (
    (r"merged-[0-9a-f-]+", "merged"),
    (r"[0-9a-f]{16,64}", "ID"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"\d{2,}", "N"),
    ("|".join(DAYS), "GAME"),
    ("GAME-(best-N|count)", "GAME-ASK"),
)
