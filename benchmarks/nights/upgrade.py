"""Upgrade a lake full of data that an earlier commit has written: no row lost, no count changed.

`python -m benchmarks.nights.upgrade --from REV [--days N] [--write]`: the code of REV, exported
into a folder and run by an environment of its own, makes a lake over the real archive
(NIGHTGRID_ARCHIVE): nights of three games, of which the second finds changed payloads, and a
count. The present code reads it, upgrades it (`nightgrid lake upgrade`), works a night on it that
has nothing to do, and reads it again. Every row that the earlier code reads must be read in all of
its columns, before and after. Exits with 1 where a row is lost or another one.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.instruments.report import Section, add_write, finish

ROOT = Path(__file__).resolve().parents[2]
GAMES = ("pips", "strands", "letterboxed")
FIRST = dt.date(2025, 9, 1)
STEP_S = 900.0
READ = """
import json, sys
from pathlib import Path
import pyarrow.parquet as pq
from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake import tables
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.merge import without_repeats
from nightgrid.archive.results.files import RESULT_FILES, SOLUTION_FILES
from nightgrid.archive.results.results import read_results
lake = Lake.open(sys.argv[1])
found = {"results": read_results(lake)}
found["solutions"] = without_repeats(
    SOLUTION_FILES, lake.read_table("solutions", tables.SOLUTIONS).combine_chunks())
found["dictionaries"] = lake.read_table("dictionaries", tables.DICTIONARIES)
for game in sys.argv[2].split(","):
    found[f"puzzles.{game}"] = read_puzzle_table(lake, game)
    for name in ("editions", "quarantine", "observations"):
        schema = getattr(tables, name.upper())
        found[f"{name} of {game}"] = lake.read_table(f"{name}/{game}.parquet", schema)
    found[f"raw of {game}"] = lake.read_table(f"raw/{game}.parquet", tables.RAW)
told = {
    name: sorted(json.dumps(row, sort_keys=True, default=str) for row in table.to_pylist())
    for name, table in found.items()
}
print(json.dumps(told))
"""
"""Reads every table as the code that runs it does."""


def main() -> int:
    """Make the lake, upgrade it, and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nights.upgrade")
    parser.add_argument("--from", dest="revision", required=True, help="commit of the earlier code")
    parser.add_argument("--days", type=int, default=10)
    add_write(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightgrid-upgrade-") as place:
        section, wrong = upgraded(Path(place), options.revision, options.days)
    finish(section, to_results=options.write)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


def upgraded(folder: Path, revision: str, days: int) -> tuple[Section, list[str]]:
    """Do all of it; return the section of results, and what is wrong."""
    old = _environment(folder / "old", _exported(folder / "source", revision))
    lake, payloads = folder / "lake", folder / "payloads"
    begun = time.perf_counter()
    _fill(old, lake, payloads, days)
    filled_s = time.perf_counter() - begun
    files = sum(1 for path in lake.rglob("*") if path.is_file())
    size = sum(path.stat().st_size for path in lake.rglob("*") if path.is_file())
    before = _rows(old, lake)
    new = [sys.executable]
    read = _rows(new, lake)
    begun = time.perf_counter()
    told = _run(new, "-m", "nightgrid", "lake", "upgrade", "--lake", str(lake))
    upgraded_s = time.perf_counter() - begun
    checked = _run(new, "-m", "nightgrid", "lake", "check", "--lake", str(lake))
    night = json.loads(_run(new, *_night(lake, payloads), "--json").splitlines()[-1])
    after = _rows(new, lake)
    wrong = [*differences("read", before, read), *differences("upgraded", before, after)]
    games = night.get("games", {})
    planned = sum(report["planned"] for report in games.values())
    if planned:
        wrong.append(f"the night after the upgrade planned {planned} jobs again")
    if "Nothing is wrong" not in checked:
        wrong.append(f"lake check: {checked.strip()}")
    section = Section(
        name="upgrade",
        title="Upgrade from an earlier commit",
        command=f"python -m benchmarks.nights.upgrade --from {revision} --days {days}",
    )
    section.say(
        f"A lake of {days} days of three games, {files:,} files and {size:,} bytes, made by "
        f"the code of {revision} in {filled_s:.0f} s. `nightgrid lake upgrade` took "
        f"{upgraded_s:.1f} s: "
        f"{told.strip()} The night after it planned {planned} jobs."
    )
    rows = [(name, f"{len(rows):,}") for name, rows in before.items() if rows]
    section.table(("table", "rows, each read as before"), rows)
    section.say(
        f"{len(wrong)} things are wrong: {'; '.join(wrong)}."
        if wrong
        else "No row is lost or more, and none has another value in a column that it had."
    )
    return section, wrong


def differences(name: str, before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """Compare rows; columns that the earlier code does not have are left out."""
    found = []
    for table, rows in before.items():
        columns = set(json.loads(rows[0])) if rows else set()
        there = sorted(_only(text, columns) for text in after.get(table, []))
        wanted = sorted(_only(text, columns) for text in rows)
        if there != wanted:
            lost, more = len(set(wanted) - set(there)), len(set(there) - set(wanted))
            found.append(f"{table}, {name}: {lost} of {len(wanted)} rows lost, {more} others")
    return found


def _only(text: str, columns: set[str]) -> str:
    row: dict[str, Any] = json.loads(text)
    return json.dumps({name: row[name] for name in sorted(columns & set(row))})


def _exported(folder: Path, revision: str) -> Path:
    """Export the code of a commit."""
    folder.mkdir()
    git = ["git", "-C", str(ROOT), "archive", revision]
    packed = subprocess.run(git, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    return folder


def _environment(folder: Path, source: Path) -> list[str]:
    """Make an environment with the code of a folder; dependencies are those of this one."""
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = (folder / "lib").glob("python3*/site-packages")
    # What a path file in a folder of a path file names is not read: the present code stays out.
    lines = [str(source), sysconfig.get_path("purelib")]
    (packages / "earlier.pth").write_text("\n".join(lines) + "\n")
    python = str(folder / "bin" / "python")
    script = "import nightgrid; print(nightgrid.__file__)"
    told = _run([python], "-c", script).strip()
    if not Path(told).is_relative_to(source):
        raise SystemExit(f"the environment of the earlier code imports {told}")
    return [python]


def _fill(old: list[str], lake: Path, payloads: Path, days: int) -> None:
    """Work two nights with the earlier code, the second with changed payloads, and a count."""
    archive = Path(os.environ.get("NIGHTGRID_ARCHIVE", ROOT.parent / "shared" / "puzzles"))
    dates = [FIRST + dt.timedelta(days=day) for day in range(days)]
    for game in GAMES:
        (payloads / game).mkdir(parents=True)
        for day, date in enumerate(dates):
            body = (archive / game / f"{date}.json").read_bytes()
            if day == 0:
                other = dates[-1] + dt.timedelta(days=1)
                body = (archive / game / f"{other}.json").read_bytes()
                body = body.replace(str(other).encode(), str(date).encode())
            (payloads / game / f"{date}.json").write_bytes(body if day != 1 else body[:200])
    _run(old, *_night(lake, payloads), ends=(0, 5))
    for game in GAMES:
        for date in dates[:2]:
            body = (archive / game / f"{date}.json").read_bytes()
            (payloads / game / f"{date}.json").write_bytes(body)
    _run(old, *_night(lake, payloads), ends=(0, 5))
    _run(old, "-m", "nightgrid", "count", "pips:n=300,seed=5", "--lake", str(lake), "--inline",
         "--no-prefect")  # fmt: skip


def _night(lake: Path, payloads: Path) -> list[str]:
    words = ["-m", "nightgrid", "nightly", "--source", str(payloads), "--lake", str(lake)]
    return [*words, "--inline", "--no-prefect"]


def _rows(python: Sequence[str], lake: Path) -> dict[str, list[str]]:
    told: dict[str, list[str]] = json.loads(_run(python, "-c", READ, str(lake), ",".join(GAMES)))
    return told


def _run(python: Sequence[str], *words: str, ends: Sequence[int] = (0,)) -> str:
    """Run Python in a folder without code; return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(
        [*python, *words],
        cwd=tempfile.gettempdir(),
        env=environment,
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )
    if ended.returncode not in ends:
        raise SystemExit(f"{words[:6]} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
