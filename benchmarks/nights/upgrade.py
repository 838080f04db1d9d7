"""Upgrade a lake full of data that an earlier commit has written: no row lost, no count changed.

`python -m benchmarks.nights.upgrade --from REV [--write]`: the code of REV, exported into a folder
and run by an environment of its own, makes a lake over the real archive (NIGHTGRID_ARCHIVE):

- nights of three games, --pips, --strands and --letterboxed days of them; the first night finds a
  changed and a truncated payload of each game, the second one the published ones;
- a count of --boards generated boards, and one of a folder with damaged payloads in it;
- up to LISTED solutions of each published board of Pips: listings where there are many;
- answers on demand of workers: words that a night does not ask for, and boards of no night.

The present code reads it, upgrades it (`nightgrid lake upgrade`), works a night on it that has
nothing to do, and reads it again. Every row that the earlier code reads must be read in all of its
columns, before and after, and every body under raw/ must be as it was. Exits with 1 where a row is
lost or another one.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.instruments.report import Section, add_write, finish

ROOT = Path(__file__).resolve().parents[2]
GAMES = ("pips", "strands", "letterboxed")
FIRST = {
    "pips": dt.date(2025, 8, 18),
    "strands": dt.date(2025, 1, 1),
    "letterboxed": dt.date(2025, 1, 1),
}
"""First day of each game: that of the archive, or of a year."""
LISTED = 10_000
"""Solutions of each board of Pips that are kept at most."""
ASKED_DAYS = 5
"""Days of each game that are asked about on demand."""
STEP_S = 1800.0
READ = """
import hashlib, json, sys
from pathlib import Path
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
found["asked on demand"] = lake.read_table("asked", tables.ASKED)
for corpus in sorted(path.name for path in Path(sys.argv[1], "corpora").iterdir()):
    for part in ("rows", "quarantine"):
        schema = getattr(tables, f"CORPUS_{part.upper()}")
        found[f"{part} of corpus {corpus}"] = lake.read_table(f"corpora/{corpus}/{part}", schema)
    boards = found["puzzles.pips"].schema
    found[f"puzzles of corpus {corpus}"] = lake.read_table(f"corpora/{corpus}/puzzles", boards)
found["listings"] = lake.read_table("listings", tables.SOLUTIONS)
told = {
    name: sorted(json.dumps(row, sort_keys=True, default=str) for row in table.to_pylist())
    for name, table in found.items()
}
told["bodies"] = sorted(
    json.dumps({"path": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    for path in Path(sys.argv[1], "raw").rglob("*") if path.is_file() and path.suffix != ".parquet")
print(json.dumps(told))
"""
"""Reads every table as the code that runs it does."""


def main() -> int:
    """Make the lake, upgrade it, and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nights.upgrade")
    parser.add_argument("--from", dest="revision", required=True, help="commit of the earlier code")
    for game, days in (("pips", 88), ("strands", 200), ("letterboxed", 100)):
        parser.add_argument(f"--{game}", type=int, default=days, metavar="DAYS")
    parser.add_argument("--boards", type=int, default=20_000, help="generated boards of a count")
    add_write(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightgrid-upgrade-") as place:
        days = {game: getattr(options, game) for game in GAMES}
        section, wrong = upgraded(Path(place), options.revision, days, options.boards)
    finish(section, to_results=options.write)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


def upgraded(
    folder: Path, revision: str, days: Mapping[str, int], boards: int
) -> tuple[Section, list[str]]:
    """Do all of it; return the section of results, and what is wrong."""
    old = _environment(folder / "old", _exported(folder / "source", revision))
    lake, payloads = folder / "lake", folder / "payloads"
    begun = time.perf_counter()
    _fill(old, lake, payloads, days, boards)
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
    given = " ".join(f"--{game} {count}" for game, count in days.items())
    section = Section(
        name="upgrade",
        title="Upgrade from an earlier commit",
        command=f"python -m benchmarks.nights.upgrade --from {revision} {given} --boards {boards}",
    )
    nights = ", ".join(f"{count} days of {game}" for game, count in days.items())
    section.say(
        f"A lake of {nights}, a count of {boards:,} generated boards, one of a folder with "
        f"damaged payloads, up to {LISTED:,} solutions of each published board of Pips, and "
        f"answers on demand: {files:,} files and {size:,} bytes, made by the code of {revision} "
        f"in {filled_s:.0f} s. `nightgrid lake upgrade` took {upgraded_s:.1f} s: "
        f"{told.strip().replace(str(lake), 'LAKE')} The night after it "
        f"planned {planned} jobs."
    )
    section.say(_position(revision) + _new_commands(old, new))
    rows = [(name, f"{len(rows):,}") for name, rows in _by_kind(before).items() if rows]
    section.table(("table", "rows, each read as before"), rows)
    section.say(
        f"{len(wrong)} things are wrong: {'; '.join(wrong)}."
        if wrong
        else "No row is lost or more, and none has another value in a column that it had. "
        "No body under raw/ has changed."
    )
    return section, wrong


def _position(revision: str) -> str:
    """Say which commit the earlier code is, and which one comes after it."""

    def log(*words: str) -> str:
        command = ["git", "-C", str(ROOT), "log", "--format=%h (%s)", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    itself = log("-1", revision).strip()
    later = log("--reverse", "--ancestry-path", f"{revision}..HEAD").splitlines()
    return (
        f"The earlier code is that of {itself}. The commit after it is {later[0]}, "
        f"and {len(later):,} commits lie between it and the code that upgrades."
    )


def _new_commands(old: list[str], new: list[str]) -> str:
    """Name the commands that the earlier code lacks."""
    there, here = (
        re.findall(r"^  ([a-z]+)  ", _run(python, "-m", "nightgrid", "--help"), re.MULTILINE)
        for python in (old, new)
    )
    lacking = [name for name in here if name not in there]
    return f" It has no command {', '.join(f'`{name}`' for name in lacking)}." if lacking else ""


def _by_kind(told: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Put the tables of all corpora together."""
    found: dict[str, list[str]] = {}
    for name, rows in told.items():
        kind = f"{name.split(' of corpus ')[0]} of corpora" if " of corpus " in name else name
        found.setdefault(kind, []).extend(rows)
    return found


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


def _fill(old: list[str], lake: Path, payloads: Path, days: Mapping[str, int], boards: int) -> None:
    """Let the earlier code work nights, counts, listings and answers on demand."""
    archive = Path(os.environ.get("NIGHTGRID_ARCHIVE", ROOT.parent / "shared" / "puzzles"))
    for game in GAMES:
        _put_payloads(archive / game, payloads / game, _dates(game, days[game]))
    _run(old, *_night(lake, payloads), ends=(0, 5))
    corpus = payloads.parent / "corpus"
    # With the damaged payloads: the rows of a corpus, and its quarantine.
    shutil.copytree(payloads / "pips", corpus)
    for game in GAMES:
        for date in _dates(game, days[game])[:2]:
            shutil.copyfile(archive / game / f"{date}.json", payloads / game / f"{date}.json")
    _run(old, *_night(lake, payloads), ends=(0, 5))
    _run(old, *_count(f"pips:n={boards},seed=5", lake))
    _run(old, *_count(str(corpus), lake), ends=(0, 5))
    _run(old, *_count(str(archive / "pips"), lake), "--ask", f"all({LISTED})", ends=(0, 5))
    _answer_on_demand(old, lake, {game: _dates(game, days[game])[-1] for game in GAMES})


def _dates(game: str, days: int) -> list[dt.date]:
    return [FIRST[game] + dt.timedelta(days=day) for day in range(days)]


def _put_payloads(published: Path, folder: Path, dates: Sequence[dt.date]) -> None:
    """Copy payloads: the first is that of another day at first, the second one is cut off."""
    folder.mkdir(parents=True)
    for date in dates:
        shutil.copyfile(published / f"{date}.json", folder / f"{date}.json")
    first, second, *_, last = dates
    body = (published / f"{last}.json").read_bytes().replace(str(last).encode(), b"DATE")
    (folder / f"{first}.json").write_bytes(body.replace(b"DATE", str(first).encode()))
    (folder / f"{second}.json").write_bytes((published / f"{second}.json").read_bytes()[:200])


def _answer_on_demand(old: list[str], lake: Path, last: Mapping[str, dt.date]) -> None:
    """Let workers of the earlier code answer what no night asks, and boards of no night."""
    worker = subprocess.Popen(
        [*old, "-m", "nightgrid", "worker", "--lake", str(lake), "--processes", "1"],
        cwd=tempfile.gettempdir(),
        env=_environment_variables(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        asked = [f"{game}/{date - dt.timedelta(days=day)}" for game, date in last.items()
                 for day in range(ASKED_DAYS)]  # fmt: skip
        sample = [str(path) for path in sorted((ROOT / "service/sample/pips").glob("*.json"))]
        words = ["-m", "nightgrid", "submit", "--first", "--lake", str(lake)]
        for some in (asked, sample[:ASKED_DAYS]):
            _run(old, *words, *some, "--wait", str(STEP_S - 60))
    finally:
        worker.terminate()
        worker.wait()


def _count(corpus: str, lake: Path) -> list[str]:
    words = ["-m", "nightgrid", "count", corpus, "--lake", str(lake)]
    return [*words, "--inline", "--no-prefect"]


def _night(lake: Path, payloads: Path) -> list[str]:
    words = ["-m", "nightgrid", "nightly", "--source", str(payloads), "--lake", str(lake)]
    return [*words, "--inline", "--no-prefect"]


def _rows(python: Sequence[str], lake: Path) -> dict[str, list[str]]:
    told: dict[str, list[str]] = json.loads(_run(python, "-c", READ, str(lake), ",".join(GAMES)))
    return told


def _environment_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _run(python: Sequence[str], *words: str, ends: Sequence[int] = (0,)) -> str:
    """Run Python in a folder without code; return what it printed."""
    ended = subprocess.run(
        [*python, *words],
        cwd=tempfile.gettempdir(),
        env=_environment_variables(),
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
