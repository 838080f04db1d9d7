"""Help, its page, and what commands load at startup."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.service.cli.commands import COMMANDS
from nightgrid.service.games import service_plug
from tests.service.scenes import environment

Invoke = Callable[..., tuple[int, str, str]]

NAMES = [command.name for command in COMMANDS]
HEAVY = ("numba", "numpy", "pyarrow", "celery", "prefect", "redis", "duckdb", "rich.console")


def python(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(),
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example_of_itself(invoke: Invoke, name: str) -> None:
    code, out, err = invoke(name, "--help")
    assert (code, err) == (0, "")
    assert f"Example: nightgrid {name}" in out
    assert not {"<str>", "<list[str]>"} & set(out.split()), "types of Python are ours"


def test_every_option_is_described(invoke: Invoke) -> None:
    for name in NAMES:
        _, out, _ = invoke(name, "--help")
        options = out.partition("Options:\n")[2].splitlines()
        for i, line in enumerate(options):
            if line.startswith("  -"):
                after = options[i + 1] if i + 1 < len(options) else ""
                described = re.search(r"\S {2,}\S", line) or after.startswith(" " * 10)
                assert described, f"nightgrid {name}: {line}"


def test_no_command_shows_help_and_version_is_printed(invoke: Invoke) -> None:
    code, out, _ = invoke()
    assert code == 0
    assert "Commands:" in out
    code, out, _ = invoke("--version")
    assert code == 0
    assert out.startswith("nightgrid ")


def test_help_and_show_load_nothing_heavy(tmp_path: Path) -> None:
    sample = service_plug("pips").sample
    assert sample is not None
    board = str(sample / "2026-01-01.json")
    for words in (["--help"], ["solve", "--help"], ["show", "missing.json"], ["show", board]):
        done = python(
            "import sys; from nightgrid.service.cli.app import main; "
            f"main({words}); "
            f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)",
            tmp_path,
        )
        assert done.stderr.splitlines()[-1] == "[]", words


def test_worker_and_solve_do_without_prefect_and_http(tmp_path: Path) -> None:
    block = "import sys; sys.modules.update(dict.fromkeys(('prefect', 'fastapi', 'httpx'))); "
    done = python(
        block
        + "import nightgrid.service.cli.app, nightgrid.workers.cluster.supervisor; "
        + "import nightgrid.workers.ondemand.submitting; "
        + "from nightgrid.workers.celery_worker import lifecycle, tasks; "
        + "sys.exit(nightgrid.service.cli.app.main(['status', '--lake', '.']))",
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("package", "words", "extra"),
    [
        ("pyarrow", ["status"], "worker"),
        ("pyarrow", ["nightly", "--source", "."], "flows"),
        ("pyarrow", ["query", "select 1"], "query"),
        ("pyarrow", ["serve"], "serve"),
        ("httpx", ["status", "--url", "http://127.0.0.1:1"], "archive"),
    ],
)
def test_missing_package_names_the_extra_that_the_command_needs(
    tmp_path: Path, package: str, words: list[str], extra: str
) -> None:
    done = python(
        f"import sys; sys.modules[{package!r}] = None; "
        f"from nightgrid.service.cli.app import main; sys.exit(main({words!r}))",
        tmp_path,
    )
    assert done.returncode == 1
    assert f"pip install '.[{extra}]' --constraint constraints.txt" in done.stderr
    assert done.stderr.count("\n") == 1
