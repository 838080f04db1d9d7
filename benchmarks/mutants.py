"""Put small bugs into plain-Python modules, one after the other, and see which the tests notice.

`python -m benchmarks.mutants --seed 7 --each 8` draws 8 bugs for each module of MODULES, runs the
tests that mirror the module on a copy of the repository, and names the bugs that they let pass.
Cosmic Ray makes the bugs; what it does besides (a database of sessions, workers) is not used. Bugs
that change nothing that can be seen are named in EQUIVALENT with the reason, and not counted.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import parso
from cosmic_ray.ast import ast_nodes
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S, TIMEOUT_TIMES = 90.0, 5
"""A bug that makes tests run this long, and so many times as long as without it, counts as noticed:
beside other work the tests themselves take longer."""
KILLED_MIN = 0.9
OPERATORS = tuple(
    f"core/{name}"
    for name in (
        "AddNot",
        "ExceptionReplacer",
        "NumberReplacer",
        "ReplaceAndWithOr",
        "ReplaceOrWithAnd",
        "ReplaceBinaryOperator_Add_Sub",
        "ReplaceBinaryOperator_Sub_Add",
        "ReplaceBinaryOperator_Mul_Add",
        "ReplaceBinaryOperator_FloorDiv_Mul",
        "ReplaceBinaryOperator_Mod_Add",
        "ReplaceComparisonOperator_Eq_NotEq",
        "ReplaceComparisonOperator_NotEq_Eq",
        "ReplaceComparisonOperator_Lt_LtE",
        "ReplaceComparisonOperator_LtE_Lt",
        "ReplaceComparisonOperator_Gt_GtE",
        "ReplaceComparisonOperator_GtE_Gt",
        "ReplaceComparisonOperator_Is_IsNot",
        "ReplaceComparisonOperator_IsNot_Is",
        "ReplaceBreakWithContinue",
        "ReplaceContinueWithBreak",
        "ReplaceFalseWithTrue",
        "ReplaceTrueWithFalse",
        "ReplaceUnaryOperator_Delete_Not",
    )
)
"""Those whose bugs look like those of people. Left out is what no test of behaviour can notice:
`is` in the place of `==`, and `|` between types."""
MODULES: dict[str, tuple[str, ...]] = {
    "archive/sources/folder.py": (
        "archive/sources/test_folder.py",
        "archive/ingest/test_seen_files.py",
        "service/cli/test_archives.py",
    ),
    "archive/sources/web.py": ("archive/sources",),
    "archive/payloads/strict_json.py": ("archive/payloads/test_strict_json.py",),
    "archive/lake/conforming.py": ("archive/lake/test_conforming.py", "archive/lake/test_lake.py"),
    "archive/lake/location.py": ("archive/lake/test_location.py",),
    "archive/lookup/reference.py": ("archive/lookup",),
    "archive/ingest/fetch.py": (
        "archive/ingest/test_fetch.py",
        "archive/ingest/test_drafts.py",
        "archive/ingest/test_seen_files.py",
    ),
    "workers/settings_sources.py": (
        "workers/test_settings.py",
        "service/cli/test_doctor.py",
    ),
    "workers/driver/chunk_table.py": ("workers/driver/test_chunk_table.py",),
    "workers/driver/progress.py": ("workers/driver/test_progress.py",),
    "workers/runs/attempt_notes.py": ("workers/runs/test_status.py",),
    "workers/runs/status.py": ("workers/runs/test_status.py",),
    "workers/runs/finishing/gathering.py": (
        "workers/runs/finishing/test_gathering.py",
        "workers/runs/test_planned_runs.py",
        "workers/runs/plan/test_open_plans.py",
    ),
    "flows/night/settings.py": ("flows/night/test_settings.py",),
}
"""Modules, and below tests/ what mirrors each."""
_CONSTANT = re.compile(r"^(    )?\w+(, \w+)*(: \w+)? = [-\d._* +<(),]+$|^@dataclass")
"""A tunable with a name, whose test would only say its value again, and how a class of data is
made."""
EQUIVALENT: dict[str, dict[str, str]] = {
    "archive/sources/folder.py": {
        "self._max_body_bytes + 2": (
            "one byte beyond the bound is enough to see that a body is longer"
        ),
    },
    "archive/lake/location.py": {
        "if writes else 1)": "1 is os.X_OK, which is asked for anyway",
    },
    "workers/settings_sources.py": {
        "CONFIG_MAX_BYTES + 2": "one byte beyond the bound is enough to see that a file is longer",
        'error["loc"][ -1]': "no setting has settings within it",
        "matches(name, fields, 2)": "the first alone is named",
    },
    "workers/runs/attempt_notes.py": {
        "durable=note.failure is None": "what does not wait for the disk shows after a power cut",
    },
    "workers/driver/progress.py": {
        '("M", 999999.0)': "three digits do not show it",
        '("M", 1000001.0)': "three digits do not show it",
        "left.wall_s > (progress.oldest_seconds or 0.0)": "two clocks do not agree to the bit",
        '("G", 999999999.0)': "three digits do not show it",
    },
    "workers/runs/finishing/gathering.py": {
        "!= batch[ -1].segment": "all chunks of a batch lie in one segment",
        "TRIM_BUCKETS - 2:": "as often, one bucket earlier",
        "if not i % TRIM_BUCKETS": "memory is given back more often",
        "lake.read_row_groups(batch[ -1]": "all chunks of a batch lie in one segment",
        "batch, rows = [], -1": "a batch may be one row larger",
        "if bounds[i] <= bounds[i + 1]:": "no rows are written either way",
        "np.arange(self._count + 2": "the last bound is not looked at",
    },
}
"""Why a bug changes nothing that can be seen, by module and a piece of the line that it makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A bug: one place of one operator."""

    module: str
    operator: str
    occurrence: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of a bug."""

    mutant: Mutant
    change: str
    """The line as it is and as the bug makes it."""
    survived: bool
    reason: str = ""
    """Why it need not be noticed."""


def main() -> int:
    """Draw, run, and name what survives."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--each", type=int, default=8, metavar="N", help="bugs for each module")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="modules whose path has TEXT")
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"seed: {seed}", flush=True)
    chosen = [m for m in MODULES if options.only is None or any(t in m for t in options.only)]
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="nightgrid-mutants-") as folder:
        copy = Path(folder) / "copy"
        ignore = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "var", "lake-*")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=ignore)
        for module in chosen:
            found = list(_tried(copy, module, random.Random(f"{seed} {module}"), options.each))
            verdicts += found
            alive = sum(v.survived and not v.reason for v in found)
            print(f"{module}: {len(found) - alive} of {len(found)} noticed", flush=True)
    return _report(verdicts)


def mutants(module: str, source: str) -> list[Mutant]:
    """List every bug of a module. Values of named constants are left as they are."""
    tree = parso.parse(source)
    lines = source.splitlines()
    found = []
    for name in OPERATORS:
        operator = get_operator(name)()
        places = [
            start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)
        ]
        found += [
            Mutant(module=module, operator=name, occurrence=i, line=line)
            for i, (line, column) in enumerate(places)
            if not _CONSTANT.match(lines[line - 1])
            # An assertion of zip, which holds whatever the tests do.
            and not lines[line - 1][:column].endswith("strict=")
            # To wait for the disk where no one has to costs time alone. The bug the other way round
            # shows after a power failure, and is drawn.
            and not lines[line - 1][column - 8 :].startswith("durable=False")
        ]
    return found


def _tried(copy: Path, module: str, draw: random.Random, each: int) -> Iterator[Verdict]:
    path = copy / module
    source = path.read_text()
    tests = [f"tests/{name}" for name in MODULES[module]]
    begun = time.monotonic()
    if _run(copy, tests, timeout_s=None):
        raise SystemExit(f"{module}: its tests fail without any bug")
    timeout_s = max(TIMEOUT_S, TIMEOUT_TIMES * (time.monotonic() - begun))
    every = mutants(module, source)
    for number, mutant in enumerate(draw.sample(every, min(each, len(every)))):
        try:
            mutated = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
        except AttributeError:
            # ExceptionReplacer takes names alone, not `module.Name`.
            continue
        if mutated is None or not _is_python(mutated):
            continue
        change = _change(source, mutated)
        path.write_text(mutated)
        # Another time than that of the bytecode, which has a resolution of a second.
        os.utime(path, (time.time(), time.time() + 10 * (number + 1)))
        survived = not _run(copy, tests, timeout_s=timeout_s)
        path.write_text(source)
        made = change.partition(" -> ")[2]
        known = EQUIVALENT.get(module, {})
        reason = next((why for piece, why in known.items() if piece in made), "")
        verdict = Verdict(mutant=mutant, change=change, survived=survived, reason=reason)
        if survived:
            print(f"  {_told(verdict)}", flush=True)
        yield verdict
    os.utime(path)


def _is_python(source: str) -> bool:
    """Return whether a bug leaves a module that can be read: `*, name` may become `+, name`."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _run(copy: Path, tests: list[str], *, timeout_s: float | None) -> int:
    """Run tests in the copy; 0 when all pass. Without a bug, which has no limit, they compile."""
    # Every example: a mutant that a share of them lets pass is no gap of the tests.
    environment = {**os.environ, "PYTHONPATH": str(copy), "TEST_EXAMPLES": "all"}
    if timeout_s is not None:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, "--timeout=60", "--hypothesis-seed=0", *tests],
            cwd=copy,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1
    return done.returncode


def _change(before: str, after: str) -> str:
    lines = [
        line
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line.startswith(("- ", "+ "))
    ]
    return " -> ".join(re.sub(r"^[-+] +", "", line) for line in lines)


def _told(verdict: Verdict) -> str:
    end = f" ({verdict.reason})" if verdict.reason else ""
    return f"{verdict.mutant.module}:{verdict.mutant.line}: {verdict.change}{end}"


def _report(verdicts: list[Verdict]) -> int:
    counted = [verdict for verdict in verdicts if not (verdict.survived and verdict.reason)]
    killed = sum(not verdict.survived for verdict in counted)
    share = killed / len(counted) if counted else 1.0
    print(f"{killed} of {len(counted)} bugs noticed, {100 * share:.1f} %")
    for verdict in verdicts:
        if verdict.survived:
            print(f"not noticed: {_told(verdict)}")
    return 0 if share >= KILLED_MIN else 1


if __name__ == "__main__":
    sys.exit(main())
