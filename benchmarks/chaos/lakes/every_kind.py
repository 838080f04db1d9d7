"""Harm to a file of each kind of a lake: what commands say of it, and what is left after a repair.

`python -m benchmarks.chaos.lakes.every_kind [--only TEXT] [--harms HARM ...] [--write]`: each harm
is done to a copy of one lake (`full_lake`). Then two rows of commands run in forks of this process:
readers first, with a repair at their end, and workers first. It prints a table, and exits with 1 if
a command raises or is silent about what it lacks, or if an answer is lost, or another.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.chaos.harm import HARMS_IN_PLACE
from benchmarks.chaos.lakes.forked import TROUBLED, Said, forked
from benchmarks.chaos.lakes.full_lake import (
    BEGUN,
    COUNTED,
    INLINE,
    FullLake,
    make_full_lake,
    one_of_each,
)
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.lake.faults import LakeRefusesError
from nightgrid.archive.results.files import ONDEMAND_PREFIX
from nightgrid.archive.results.results import find_results, read_results
from nightgrid.workers.runs.finishing.ended import ASKED_AGAIN
from tests.warm_interpreter import load

UNEXPECTED = ("Traceback", "unexpected ")
"""What a command says that ends otherwise than by a sentence of ours."""
PATHS = (
    "/v1/results",
    "/v1/puzzles/pips",
    "/v1/puzzles/pips/2026-01-01",
    "/v1/solves/{}",
    "/v1/runs",
    "/report",
)
"""What is asked of the HTTP service; {} is a job."""


@dataclass(slots=True, kw_only=True)
class Found:
    """What became of one harm to one file."""

    path: str
    harm: str
    said: dict[str, Said] = field(default_factory=dict)
    """By the order and the words of each command."""
    wrong: list[str] = field(default_factory=list)
    """One sentence for each outcome that is not as it should be."""
    asked_again: set[str] = field(default_factory=set)
    """Jobs on demand whose answers are gone, which was told."""
    left: str = ""
    """What the last check leaves to a person."""


def readers(full: FullLake) -> dict[str, Sequence[str]]:
    """Name the commands that look at a lake."""
    return {
        "query": ("query", "select status, count(*) as n from results group by all order by all"),
        "counts": ("query", "select count(*) from counts"),
        "list": ("list", "results", "--json"),
        "puzzles": ("list", "puzzles", "--json"),
        "status": ("status",),
        "result": ("result", *full.jobs),
        "report": ("report", "-o", "other"),
        "http": ("http", *(path.format(full.jobs[1]) for path in PATHS)),
    }


def workers(full: FullLake) -> dict[str, Sequence[str]]:
    """Name the commands that work."""
    return {
        "nightly": full.night,
        "count": ("count", COUNTED, *INLINE),
        "begun": ("count", BEGUN, *INLINE),
    }


CARE = {"check": ("lake", "check", "--json"), "repair": ("lake", "repair", "--json")}


def answers(full: FullLake) -> dict[str, tuple[str, Any]]:
    """Read what counts as the answer of each job: its status and its count."""
    table = read_results(full.lake)
    rows = find_results(full.lake, table.column("job_id").to_pylist()).to_pylist()
    return {row["job_id"]: (row["status"], row["count"]) for row in rows}


def told(said: Said) -> str:
    """Give what a command answered, without what differs from one time to another."""
    lines = [line for line in said.out.splitlines() if "report" not in line]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A sound lake, and what commands say of it."""

    full: FullLake
    said: Mapping[str, Said]
    answers: Mapping[str, tuple[str, Any]]
    on_demand: frozenset[str]
    """Jobs that were answered on demand."""
    copies: Path

    @classmethod
    def of(cls, full: FullLake, copies: Path) -> Field:
        """Look at the sound lake."""
        said = {name: forked(full, words) for name, words in readers(full).items()}
        rows = read_results(full.lake).to_pylist()
        asked = frozenset(
            row["job_id"] for row in rows if row["run_id"].startswith(ONDEMAND_PREFIX)
        )
        return cls(full=full, said=said, answers=answers(full), on_demand=asked, copies=copies)

    def strike(self, path: str, harm: str) -> Found:
        """Do one harm to one file, twice, and judge."""
        found = Found(path=path, harm=harm)
        for order in (self._readers_first, self._workers_first):
            with tempfile.TemporaryDirectory(dir=self.copies) as text:
                folder = Path(text)
                (folder / "elsewhere").mkdir()
                # In the very place of the sound lake, since some answers name it.
                full = self.full.copy(folder / "copy")
                HARMS_IN_PLACE[harm](full.folder / "lake" / path, folder / "elsewhere")
                order(full, found)
        return found

    def _readers_first(self, full: FullLake, found: Found) -> None:
        for name, words in readers(full).items():
            said = self._say(full, found, name, words)
            sound = self.said[name]
            # Of a file that is gone nothing tells what it held, but what others say of it.
            is_other = found.harm != "deleted" and name != "status" and told(said) != told(sound)
            if said.code == 0 and is_other and not _names(said, found.path):
                found.wrong.append(f"{name} answers otherwise and says nothing")
            is_told = found.harm == "deleted" or _names(said, found.path)
            if said.code and said.code != sound.code and not is_told:
                found.wrong.append(f"{name} ends with {said.code} and does not name the file")
        self._care(full, found)
        for name, words in workers(full).items():
            self._say(full, found, f"then {name}", words)
        self._compare(full, found, "after the repair")

    def _workers_first(self, full: FullLake, found: Found) -> None:
        for name, words in workers(full).items():
            said = self._say(full, found, f"first {name}", words)
            if said.code not in (0, 5) and not _names(said, found.path):
                found.wrong.append(f"{name} ends with {said.code} and does not name the file")
        if found.harm == "deleted":
            # The results of other runs are missed by a check, which compares them with these.
            self._care(full, found, "later ")
            self._compare(full, found, "after night, count and repair")
            return
        self._compare(full, found, "after night and count")
        self._care(full, found, "later ")

    def _care(self, full: FullLake, found: Found, when: str = "") -> None:
        before = self._say(full, found, f"{when}check", CARE["check"])
        if not before.code:
            return
        self._say(full, found, f"{when}repair", CARE["repair"])
        after = self._say(full, found, f"{when}check again", CARE["check"])
        named = [json.loads(line) for line in before.out.splitlines() if line[:1] == "{"]
        left = [json.loads(line) for line in after.out.splitlines() if line[:1] == "{"]
        if bool(left) != (after.code == 5) or bool(named) != (before.code == 5):
            found.wrong.append(f"{when}check ends with {before.code}, and {after.code} after it")
        found.left = "; ".join(f"{one['fault']} {one['path']}: {one['what']}" for one in left)

    def _say(self, full: FullLake, found: Found, name: str, words: Sequence[str]) -> Said:
        said = found.said[name] = forked(full, words)
        if any(mark in said.err for mark in UNEXPECTED) or said.code in (TROUBLED, -signal.SIGALRM):
            last = (said.err.strip().splitlines() or [f"code {said.code}"])[-1]
            found.wrong.append(f"{name} is unexpected: {last[:300]}")
        return said

    def _compare(self, full: FullLake, found: Found, when: str) -> None:
        try:
            now = answers(full)
        except Exception as error:  # noqa: BLE001 - told as what it is
            if isinstance(error, LakeRefusesError) and found.path in str(error):
                return  # it is named, and nothing was made in its place
            found.wrong.append(f"{when} answers cannot be read: {error}")
            return
        lost = [job for job in self.answers if job not in now]
        was_told = any(ASKED_AGAIN in said.text for said in found.said.values())
        if was_told or found.harm == "deleted":
            # No chunk result tells them; of a damaged file a person has to be told, and of one that
            # is gone nothing knows what it held.
            found.asked_again |= set(lost) & self.on_demand
            lost = [job for job in lost if job not in self.on_demand]
        other = [job for job, told in self.answers.items() if now.get(job, told) != told]
        bad = [job for job, (status, _) in now.items() if status in ("poison", "invalid")]
        for what, jobs in (("lost", lost), ("other", other), ("poison or invalid", bad)):
            if jobs:
                found.wrong.append(f"{when} {len(jobs)} answers are {what}")


def _names(said: Said, path: str) -> bool:
    """Tell whether a command names a file, or the run that it belongs to."""
    names = [path]
    if path.startswith("runs/run="):
        names.append(path.split("/")[1].removeprefix("run="))
    return any(name in said.text for name in names)


def outcome(found: Found) -> str:
    """Say in short what became of a harm."""
    if found.wrong:
        return "WRONG"
    if found.left:
        return "named"
    if found.asked_again:
        return "asked again"
    is_found = any(found.said[name].code for name in ("check", "later check") if name in found.said)
    return "mended" if is_found else "no loss"


def section_of(founds: Sequence[Found], kinds: Mapping[str, str], command: str) -> Section:
    """Write what became of every harm to every kind as a table."""
    harms = list(dict.fromkeys(found.harm for found in founds))
    told = {(found.path, found.harm): outcome(found) for found in founds}
    rows = [
        (f"`{kind}`", *(told.get((path, harm), "") for harm in harms))
        for kind, path in kinds.items()
        if any((path, harm) in told for harm in harms)
    ]
    section = Section(name="every-kind", title="Harm to a file of each kind", command=command)
    section.table(("file", *harms), rows)
    section.say(
        "Each harm was done to two copies of a lake. In one, readers (`query`, `list`, `status`, "
        "`result`, `report`, HTTP) came first, then `lake check`, `lake repair` and both again, "
        "then a night and two counts; in the other, the night and the counts came first. *mended*: "
        "a check named the file, and after the repair nothing was wrong. *named*: it is left to a "
        "person, since nothing else tells what it held or it cannot be reached. *asked again*: "
        "answers on demand, which no chunk result tells, are gone, and that is said unless the "
        "file was deleted. *no loss*: the file cost time only, or was made again before a check "
        "came. All other answers were there "
        "at the end as before, and no command raised, or answered otherwise without a word."
    )
    return section


def main() -> int:
    """Do every harm to every kind, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos.lakes.every_kind")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds whose names have it")
    parser.add_argument(
        "--harms", nargs="+", choices=HARMS_IN_PLACE, metavar="HARM", default=list(HARMS_IN_PLACE)
    )
    parser.add_argument("--shares", type=int, default=2, metavar="N", help="processes")
    add_write(parser)
    options = parser.parse_args()
    load(("nightgrid.service.http.app", "starlette.testclient"))
    with tempfile.TemporaryDirectory(prefix="nightgrid-kinds-") as text:
        full = make_full_lake(Path(text) / "sound")
        kinds = {k: path for k, path in one_of_each(full).items() if options.only in k}
        copies = Path(text) / "copies"
        copies.mkdir()
        field = Field.of(full, copies)
        trials = [(path, harm) for harm in options.harms for path in kinds.values()]
        founds = shared(field, trials, options.shares, Path(text))
    section = section_of(founds, kinds, command_line("chaos.lakes.every_kind"))
    finish(section, to_results=options.write)
    wrong = [found for found in founds if found.wrong]
    for found in wrong:
        print(f"WRONG: {found.path}, {found.harm}: {'; '.join(found.wrong)}")
    return 1 if wrong or not founds else 0


def shared(
    field: Field, trials: Sequence[tuple[str, str]], shares: int, folder: Path
) -> list[Found]:
    """Share trials among processes; give what became of each."""
    children = []
    for share in range(shares):
        process = os.fork()
        if process == 0:
            code = TROUBLED
            try:
                with (folder / f"share-{share}").open("wb") as file:
                    for path, harm in trials[share::shares]:
                        found = field.strike(path, harm)
                        print(f"{path}, {harm}: {outcome(found)}", flush=True)
                        pickle.dump(found, file)
                code = 0
            except BaseException:  # noqa: BLE001 - a fork must not go on as its parent
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(process)
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(ended):
        raise RuntimeError(f"trials ended with {ended}")
    founds = []
    for share in range(shares):
        with (folder / f"share-{share}").open("rb") as file:
            founds += [pickle.load(file) for _ in trials[share::shares]]
    return founds


if __name__ == "__main__":
    sys.exit(main())
