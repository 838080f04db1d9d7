"""Nights of a few days, undisturbed ones to compare with, and nights that meet one another."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from benchmarks.chaos.lakes.interleaving import in_turns
from benchmarks.chaos.results import differing
from benchmarks.tuned import tuned_settings
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.flows.night import night as nightly
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.runs import Watch
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.pips.generate.generator import generate, to_payload
from nightgrid.solvers.pips.generate.mix import PRESETS

ROOT = Path(__file__).resolve().parents[3]
LEVELS = ("easy", "medium", "hard")
FIRST = dt.date(2026, 1, 1)
DAYS = 4
ORDERS = range(0, 240, 12)
"""Steps of the one night before the other begins."""
OTHERS_STEPS = (20, 60, 400)
"""Steps of the other one before the first goes on."""
NIGHT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The outcome of a lake."""

    struck: int
    """How often the fault was there."""
    said: str
    """The output or effect of the commands."""
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    bad: str = ""
    """Further faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A source of some days, and what undisturbed nights answer."""

    source: Path
    lake: Path
    """The lake after all days but the last."""
    expected: pa.Table
    """The results of all days."""

    @classmethod
    def make(cls, folder: Path) -> Field:
        """Work the days night by night."""
        source, lake = folder / "source", folder / "lake"
        source.mkdir()
        for day in range(DAYS):
            write_days(source, [day])
            if day == DAYS - 1:
                shutil.copytree(lake, folder / "whole")
                work_night(night_of(folder / "whole", source))
            else:
                work_night(night_of(lake, source))
        expected = answers(Lake.open(str(folder / "whole")))
        return cls(source=source, lake=lake, expected=expected)

    def copy(self, folder: Path) -> Lake:
        """Copy the lake in which the last day is missing."""
        shutil.copytree(self.lake, folder / "lake")
        return Lake.open(str(folder / "lake"))

    def after_night(self, lake: Lake, struck: int, said: str = "") -> Found:
        """Work a night over all days, and compare; then another, which finds nothing to do."""
        report = work_night(night_of(lake.url, self.source))
        again = work_night(night_of(lake.url, self.source))
        names = ", ".join(sorted(skipped_files()))
        forget(*skipped_files())
        return self.compared(lake, struck, said or told(report, names), bad=idle(again))

    def compared(self, lake: Lake, struck: int, said: str, bad: str = "") -> Found:
        """Compare the results of a lake with the undisturbed ones."""
        found = answers(lake)
        wanted, names = self.expected.column("job_id"), found.column("job_id").to_pylist()
        return Found(
            struck=struck,
            said=said,
            lost=len(set(wanted.to_pylist()) - set(names)),
            doubled=len(names) - len(set(names)),
            differing=len(differing(self.expected, found)),
            bad=bad,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A fault."""

    what: str
    strike: Callable[[Field, Path], Found]


def write_days(folder: Path, days: Iterable[int], seed: int = 0) -> None:
    """Write payloads of generated boards, of days after FIRST."""
    folder.mkdir(exist_ok=True)
    for day in days:
        boards = [generate(PRESETS["easy"], seed + 100 * day + i) for i in range(len(LEVELS))]
        date = FIRST + dt.timedelta(days=day)
        payload = to_payload(date, dict(zip(LEVELS, boards, strict=True)))
        (folder / f"{date}.json").write_text(json.dumps(payload))


def night_of(lake: Path | str, source: Path, host: str = "host") -> NightSettings:
    """Make the settings of a night in this process, on a host of that name."""
    workers = tuned_settings(
        lake=str(lake), games="pips", var_dir=Path(f"{lake}-{host}"), reconcile_seconds=0.01
    )
    games = (NightGame(game="pips", source=str(source)),)
    return NightSettings(games=games, executor="inline", workers=workers)


def answers(lake: Lake) -> pa.Table:
    """Read all results, sorted by job, without what is another in every run."""
    return read_results(lake).sort_by("job_id").drop_columns(["run_id"])


def told(report: NightReport, names: str) -> str:
    """Summarise what a night did."""
    (game,) = report.games
    solved = f"the night solved {game.solved}, knew {game.already_known}"
    return f"{solved}; skipped and reported: {names}" if names else solved


def idle(report: NightReport) -> str:
    """Describe what is wrong with a night that should have had nothing to solve."""
    (game,) = report.games
    return f"the night after it solved {game.solved} again" if game.solved else ""


def two_hosts(field: Field, folder: Path) -> Found:
    """Start a night of other days on another host while this process works one."""
    lake = folder / "lake"
    one = night_of(lake, one_day(folder, "one", [0, 1]), host="one")
    other = one_day(folder, "other", [0, 2])
    refused = said = None

    def begin_another(_: object) -> None:
        nonlocal refused, said
        refused = start_night(lake, other, "other")
        _, said = refused.communicate(timeout=NIGHT_S)

    work_night(one, Watch(on_report=begin_another))
    assert refused is not None
    assert said is not None
    after = start_night(lake, other, "other")
    after.communicate(timeout=NIGHT_S)
    found = field.after_night(Lake.open(str(lake)), 1)
    bad = found.bad
    if (refused.returncode, after.returncode) != (1, 0) or "another night is running" not in said:
        bad = f"they ended with {refused.returncode} and {after.returncode}: {said.strip()}"
    return replace(found, said="the second ended with 1, and worked when called again", bad=bad)


def one_day(folder: Path, name: str, days: Iterable[int]) -> Path:
    """Make a source of some days."""
    write_days(folder / name, days)
    return folder / name


def start_night(lake: Path, source: Path, host: str) -> subprocess.Popen[str]:
    """Start `nightgrid nightly` on a host of its own, as far as a lake can tell."""
    words = ["--source", str(source), "--lake", str(lake), "--inline", "--no-prefect"]
    environment = {**os.environ, "NIGHTGRID_VAR_DIR": f"{lake}-{host}"}
    return subprocess.Popen(
        [Path(sys.executable).with_name("nightgrid"), "nightly", "--game", "pips", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class _NightInTurns(NightSettings):
    """A night whose lake waits for its turn."""

    turn: Callable[[Lake], Lake]

    @property
    def lake(self) -> Lake:
        return self.turn(Lake.open(self.workers.lake))


def in_forced_orders(field: Field, folder: Path) -> Found:
    """Let steps of two whole nights alternate, without a lease, in many orders."""
    refused = struck = 0
    worst: Found | None = None
    sources = {"a": one_day(folder, "one", [0, 1, 2]), "b": one_day(folder, "other", [1, 2, 3])}
    nothing_held = mock.patch.object(nightly, "holding", return_value=nullcontext())
    for first in ORDERS:
        steps = OTHERS_STEPS[struck % len(OTHERS_STEPS)]
        lake = folder / f"lake-{first}"
        work_night(night_of(lake, sources["a"]))
        shutil.rmtree(lake / "gold", ignore_errors=True)

        def work(turn: Callable[[Lake], Any], name: str, lake: Path = lake) -> int:
            settings = night_of(lake, sources[name], host=name)
            night = _NightInTurns(games=settings.games, executor="inline", workers=settings.workers)
            object.__setattr__(night, "turn", turn)
            try:
                work_night(night)
            except NightgridError:
                return 1  # the next night goes on
            return 0

        with nothing_held:
            ended = in_turns(
                "a" * first + "b" * steps + "a" * 1_000,
                {name: lambda turn, name=name: work(turn, name) for name in sources},
            )
        refused += sum(ended.values())
        struck += 1
        found = field.after_night(Lake.open(str(lake)), struck)
        if worst is None or not (worst.lost or worst.doubled or worst.differing or worst.bad):
            worst = found
    assert worst is not None
    said = f"{refused} of {2 * struck} nights ended with an error; the next night had all"
    return replace(worst, struck=struck, said=said)
