"""Time whole processes by hyperfine, before and after: `python -m benchmarks.runs.whole_process`.

`--against CLONE` is a clone of an earlier commit, whose source is run by the same Python with the
same packages. Both have lakes of their own, in which a night and a count have been worked before.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.instruments.report import Section, add_write, command_line, finish

ROOT = Path(__file__).resolve().parents[2]
CORPUS = "pips:n=20000,mix=easy,seed=1"
RUNS = 3
NUMBA_ALONE = """\
import numba
import numpy as np


@numba.njit(cache=True)
def total(values):
    found = 0
    for value in values:
        found += value
    return found


total(np.arange(10))
"""


def commands(program: str) -> dict[str, str]:
    """Name what is timed, as lines for a shell in the folder of a lake."""
    sample = ROOT / "service" / "sample"
    day = {game: sample / game / "2026-01-01.json" for game in ("pips", "strands", "letterboxed")}
    night = f"{program} nightly --source {sample / 'pips'} --lake lake --inline"
    job = f"{program} submit {day['pips']} --level easy --count --lake lake --json"
    of_job = r"""sed -n 's/.*"job_id":"\([0-9a-f]*\)".*/\1/p'"""
    return {
        "--help": f"{program} --help",
        "show, Pips": f"{program} show {day['pips']} --level easy",
        "solve, Pips": f"{program} solve {day['pips']} --level easy",
        "solve, Strands": f"{program} solve {day['strands']}",
        "solve, Letter Boxed": f"{program} solve {day['letterboxed']}",
        "solve, Tiles": f"{program} solve tiles.json",
        "submit + result, known": f"{program} result $({job} | {of_job}) --lake lake",
        "idle night under Prefect": night,
        "idle night, --no-prefect": f"{night} --no-prefect",
        "count of 20,000, nothing to do": f"{program} count {CORPUS} --lake lake --inline",
    }


def prepare(folder: Path, program: str, clone: Path) -> None:
    """Work a night and a count in a folder, and compile what the commands need."""
    folder.mkdir()
    lines = commands(program)
    needed = [
        f"{program} warmup",
        f"{program} generate --game tiles --days 1 > tiles.json",
        lines["idle night, --no-prefect"],
        f"{lines['count of 20,000, nothing to do']} --no-prefect",
        *lines.values(),
    ]
    for line in needed:
        done = subprocess.run(
            line, shell=True, cwd=folder, env=environment(clone), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{line}\nended with {done.returncode}:\n{done.stderr[-2000:]}")


def environment(clone: Path) -> dict[str, str]:
    """Let this Python run the source of a clone, with Prefect's database beside the lakes."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "HOME"))}
    home = os.environ.get("PREFECT_HOME") or str(Path(tempfile.gettempdir()) / "whole-process")
    return {**kept, "PYTHONPATH": str(clone), "PREFECT_HOME": home}


def run(options: argparse.Namespace) -> None:
    if shutil.which("hyperfine") is None:
        raise SystemExit("hyperfine is not installed: apt-get install hyperfine")
    clones = {"now": ROOT}
    if options.against is not None:
        clones = {"before": options.against.resolve(), **clones}
    program = f"{shlex.quote(sys.executable)} -m nightgrid.service.cli.app"
    with tempfile.TemporaryDirectory(prefix="nightgrid-whole-process-") as scratch:
        folder = Path(scratch)
        for name, clone in clones.items():
            prepare(folder / name, program, clone)
        (folder / "numba_alone.py").write_text(NUMBA_ALONE)
        timed = {("Numba and one kernel of its cache", "now"): f"{sys.executable} numba_alone.py"}
        for what in commands(program):
            for name, clone in clones.items():
                variables = " ".join(
                    f"{key}={shlex.quote(value)}" for key, value in environment(clone).items()
                )
                line = commands(program)[what]
                timed[what, name] = f"cd {name} && export {variables} && {line}"
        times = hyperfine(timed, folder, options.runs)
    section = Section(name="whole-process", title="Whole processes, warm", command=options.command)
    section.say(
        f"Median of {options.runs} runs, all by one call of hyperfine, one run to warm up; in "
        "brackets the seconds of the processor that the process and its children took (user and "
        "system), which other work on the machine changes less. `before` is "
        f"{commit(clones['before']) if 'before' in clones else 'not there'}, `now` is "
        f"{commit(ROOT)}. Both are run by one Python with the same packages. Every lake has been "
        f"worked: a night over the bundled Pips, and a count of `{CORPUS}`."
    )
    rows = [
        [what, *(figure(times.get((what, name))) for name in clones)]
        for what in dict.fromkeys(what for what, _ in timed)
    ]
    section.table(["command", *clones], rows)
    finish(section, to_results=options.write)


def hyperfine(timed: dict[tuple[str, str], str], folder: Path, runs: int) -> dict[Any, Any]:
    """Time all commands in one call; gives hyperfine's figures by what and version."""
    out = folder / "times.json"
    lines = [timed[key] for key in timed]
    subprocess.run(
        ["hyperfine", "--warmup", "1", "--runs", str(runs), "--export-json", str(out), *lines],
        cwd=folder,
        check=True,
    )
    found = json.loads(out.read_text())["results"]
    return dict(zip(timed, found, strict=True))


def figure(result: dict[str, Any] | None) -> str:
    """Write the median and the time of the processor, in seconds."""
    if result is None:
        return ""
    return f"{result['median']:.2f} s ({result['user'] + result['system']:.2f})"


def commit(clone: Path) -> str:
    """Name the commit of a clone."""
    done = subprocess.run(
        ["git", "-C", str(clone), "rev-parse", "--short=7", "HEAD"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.runs.whole_process", description=__doc__
    )
    parser.add_argument(
        "--against", type=Path, metavar="CLONE", help="a clone of an earlier commit"
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    add_write(parser)
    options = parser.parse_args()
    # A path of this machine says nothing elsewhere.
    shown = ["--against", "CLONE"] if options.against is not None else []
    options.command = command_line("runs.whole_process", [*shown, "--runs", str(options.runs)])
    run(options)


if __name__ == "__main__":
    main()
