"""A simulated month: thirty nights over an HTTP archive whose answers go wrong, and two crashes.

`python -m benchmarks.nights.month [--nights 30] [--crashes 2] [--seed N] [--first DATE]
[--write]`: a server on loopback serves the real archive (NIGHTGRID_ARCHIVE) day by day, with
mutated, missing, null, slow, stalled, truncated, swapped and replaced payloads, and drafts that
are replaced. Each night is a process of its own; some kill themselves at a write that the seed
chooses, and the night after goes on. Then one night builds a lake over what the server has in the
end, and both are compared (benchmarks/nights/month_compare.py). Exits with 1 if anything is lost,
differs or is too much.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.instruments.report import Section, add_write, finish
from benchmarks.nights.month_compare import Compared, compare
from benchmarks.nights.month_source import Payloads, Source, draw_faults
from nightgrid.archive.lake.storage import Lake

ROOT = Path(__file__).resolve().parents[2]
GAMES = ("pips", "strands", "letterboxed")
FIRST = dt.date(2025, 9, 1)
WRITES = 60
"""A crash comes at a write up to this one: a night of three games has some ninety."""
OTHER_DAYS = 30
"""Days after the month whose boards are shown in the place of the true ones."""
NIGHT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """What a month came to."""

    nights: int
    crashes: list[tuple[int, int]]
    """Nights that were killed, and at which write."""
    struck: dict[str, int]
    """Payloads that each kind of fault hit."""
    compared: Compared
    seconds: float
    single_seconds: float


def main() -> int:
    """Simulate the month and print what became of the lake."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nights.month")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--crashes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=2025)
    parser.add_argument("--first", type=dt.date.fromisoformat, default=FIRST)
    parser.add_argument("--keep", type=Path, help="leave both lakes in this folder")
    add_write(parser)
    options = parser.parse_args()
    archive = Path(os.environ.get("NIGHTGRID_ARCHIVE", ROOT.parent / "shared" / "puzzles"))
    payloads = read_archive(archive, options.first, options.nights)
    others = read_archive(archive, options.first + dt.timedelta(days=options.nights), OTHER_DAYS)
    with tempfile.TemporaryDirectory(prefix="nightgrid-month-") as place:
        folder = options.keep or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        month = simulate(payloads, others, folder, options.nights, options.crashes, options.seed)
        told = report_of(folder / "month", folder, month.compared)
    finish(_section(options, month, told), to_results=options.write)
    for sentence in month.compared.wrong:
        print(sentence, file=sys.stderr)
    return 1 if month.compared.wrong else 0


def read_archive(folder: Path, first: dt.date, days: int) -> Payloads:
    """Read the published payloads of some days of every game."""
    dates = [first + dt.timedelta(days=day) for day in range(days)]
    found = {
        game: {
            date: path.read_bytes()
            for date in dates
            if (path := folder / game / f"{date}.json").exists()
        }
        for game in GAMES
    }
    if not all(found.values()):
        raise SystemExit(f"{folder} has no payloads from {first}: set NIGHTGRID_ARCHIVE")
    return found


def draw_crashes(random_: random.Random, nights: int, count: int) -> list[tuple[int, int]]:
    """Draw nights that are killed, and the write of each; the last night lives."""
    chosen = sorted(random_.sample(range(1, nights - 2), count))
    return [(night, random_.randrange(1, WRITES)) for night in chosen]


def simulate(
    payloads: Payloads, others: Payloads, folder: Path, nights: int, crashes: int, seed: int
) -> Month:
    """Work all nights, and the one over the final state; compare."""
    deaths = dict(draw_crashes(random.Random(seed), nights, crashes))
    games = tuple(payloads)
    died = []
    faults = draw_faults(payloads, nights, seed)
    with Source(payloads=payloads, others=others, faults=faults) as source:
        begun = time.perf_counter()
        first = source.today()
        for night in range(nights):
            source.night = night
            words = [str(deaths[night])] if night in deaths else []
            code = _night(folder / "month", source.url, first, source.today(), games, words)
            if code == -9:
                died.append((night, deaths[night]))
            print(f"night {night + 1} of {nights}: {code}", file=sys.stderr, flush=True)
            if code not in (0, -9):
                raise SystemExit(f"night {night + 1} ended with {code}")
        seconds = time.perf_counter() - begun
        killed = {night for night, _ in died}
        served = [one for one in source.served if one.night not in killed]
        struck = {kind: len(found) for kind, found in sorted(source.struck.items())}
        begun = time.perf_counter()
        _night(folder / "single", source.url, first, source.today(), games, [])
        single_seconds = time.perf_counter() - begun
    lakes = [Lake.open(str(folder / name)) for name in ("month", "single")]
    return Month(
        nights=nights,
        crashes=died,
        struck=struck,
        compared=compare(*lakes, games, served),
        seconds=seconds,
        single_seconds=single_seconds,
    )


def _night(
    lake: Path, url: str, first: dt.date, today: dt.date, games: Sequence[str], dies: Sequence[str]
) -> int:
    words = [str(lake), url, str(first), str(today), ",".join(games), *dies]
    command = [sys.executable, "-m", "benchmarks.nights.month_night", *words]
    ended = subprocess.run(
        command, cwd=ROOT, timeout=NIGHT_S, check=False, stdout=subprocess.DEVNULL
    )
    return ended.returncode


def report_of(lake: Path, folder: Path, compared: Compared) -> str:
    """Have `nightgrid report` write the report of the month; say what it wrote.

    A report that fails is one more thing that is not as it should be.
    """
    command = [Path(sys.executable).with_name("nightgrid"), "report", "--lake", str(lake)]
    ended = subprocess.run(
        [*command, "--json"], cwd=folder, capture_output=True, text=True, check=False
    )
    told = ended.stdout.strip()
    if ended.returncode or not told:
        why = ended.stderr.strip() or "it wrote nothing"
        compared.wrong.append(f"nightgrid report ended with {ended.returncode}: {why}")
    return told


def _section(options: argparse.Namespace, month: Month, told: str) -> Section:
    section = Section(
        name="month",
        title="A simulated month",
        command=(
            f"python -m benchmarks.nights.month --nights {options.nights} --seed {options.seed}"
        ),
    )
    crashes = "; ".join(f"night {night + 1} at write {write}" for night, write in month.crashes)
    section.say(
        f"{month.nights} nights over HTTP from {options.first}, three games; killed: {crashes}. "
        f"The nights took {month.seconds:.0f} s together, the single run over the final state "
        f"{month.single_seconds:.0f} s."
    )
    section.table(("fault", "payloads hit"), [(kind, n) for kind, n in month.struck.items()])
    more = month.compared.more
    rows = [
        (name, f"{count:,}", f"{more[name]:,}" if name in more else "")
        for name, count in month.compared.rows.items()
    ]
    section.table(("what", "rows that agree", "more in the month"), rows)
    wrong = month.compared.wrong
    section.say(
        f"{len(wrong)} things are not as they should be: {'; '.join(wrong)}."
        if wrong
        else "Nothing is lost, differs or is too much; tables made again from `raw/` are the same, "
        "and `nightgrid lake check` finds nothing."
    )
    if told:
        section.say("`nightgrid report` wrote the report of the month.")
    return section


if __name__ == "__main__":
    sys.exit(main())
