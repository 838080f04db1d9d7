"""Every command of README and docs does what its page says, in a clone with nothing else.

A page's blocks are run in their order by bash, in a folder that holds the tracked files and no
others. `nightgrid` and `python` there run the command in a fork of one warm process
(tests/warm_interpreter.py), nights and counts with --inline --no-prefect, so that all pages
together take seconds. Workers are real. `DOCS_REAL=1` runs every command as its own process, with
the workers and the Prefect of a reader.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer

from nightgrid.service.cli.app import make_app
from nightgrid.service.cli.commands import COMMANDS
from tests.docs.pages import ROOT, Block, blocks_of, commands_of, files_of_a_clone, pages
from tests.infra.kustomize import build, containers
from tests.warm_interpreter import REAL, started

PAGE_TIMEOUT_S = 600 if os.environ.get(REAL) else 300
"""Kernels may have to be compiled first."""
NOT_RUN_MAX = 40
REASONS = {
    "a cluster",
    "changes the shell",
    "another machine",
    "docker",
    "installs packages",
    "leaves a schedule running",
    "object storage",
    "published archive",
    "root",
    "runs tests",
    "make installs",
    "makes a release",
    "measures for minutes",
}
"""Reasons for not running a block."""
SCRIPT = """
set -eE
trap 'echo "@@FAILED $BASH_COMMAND" >&2' ERR
. .venv/bin/activate
"""
RUN = """
exec >{out} 2>&1
echo '@@BLOCK {number}' >&3
{text}
"""
RUN_FAILING = """
exec >{out} 2>&1
echo '@@BLOCK {number}' >&3
trap - ERR; set +e
{text}
code=$?
set -e; trap 'echo "@@FAILED $BASH_COMMAND" >&2' ERR
[ $code = {code} ] || (echo "exit code $code instead of {code}"; exit 1)
"""
ALL_BLOCKS = [block for page in pages() for block in blocks_of(page)]
RUN_PAGES = sorted({block.page for block in ALL_BLOCKS if block.is_run})
NOT_RUN = [block for block in ALL_BLOCKS if block.reason]
LONG_PAGES = {
    "docs/how-to/back-up-and-move-a-lake.md",
    "docs/how-to/call-the-service.md",
    "docs/how-to/query-results.md",
    "docs/how-to/rank-covers.md",
    "docs/how-to/solve-boards.md",
    "docs/how-to/watch-and-diagnose.md",
    "docs/tutorial/first-hour.md",
}
"""Their commands take seconds each; README runs most of them as well."""
AS_README = pytest.mark.long(
    short="tests/docs/test_commands.py::test_every_command_of_a_page_works_as_described"
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the files that git tracks or would track."""
    folder = tmp_path_factory.mktemp("clone")
    for name in files_of_a_clone():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start the warm process, and write `nightgrid` and `python`, which run commands in it."""
    with started(tmp_path_factory.mktemp("warm") / "venv") as folder:
        yield folder


@pytest.mark.timeout(PAGE_TIMEOUT_S)
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[AS_README] if page in LONG_PAGES else []) for page in RUN_PAGES],
)
def test_every_command_of_a_page_works_as_described(
    page: str, clone: Path, programs: Path, tmp_path: Path
):
    outputs, complaint = run_page(blocks_of(page), clone, programs, tmp_path)
    assert complaint == ""
    assert differing_outputs(blocks_of(page), outputs) == []


def run_page(
    blocks: list[Block], clone: Path, programs: Path, folder: Path
) -> tuple[dict[int, str], str]:
    """Run the blocks of one page; return the output of each, and the error of a failure."""
    here, kept = folder / "here", folder / "kept"
    here.mkdir()
    kept.mkdir()
    for entry in clone.iterdir():
        (here / entry.name).symlink_to(entry)
    (here / ".venv").symlink_to(programs)
    script = [SCRIPT]
    for number, block in enumerate(blocks):
        if not block.is_run:
            continue
        text = block.text
        if block.language == "python":
            (kept / f"{number}.py").write_text(text)
            text = f"python {kept}/{number}.py"
        form = RUN_FAILING if block.exit_code else RUN
        out = kept / f"{number}.out"
        script.append(form.format(out=out, number=number, text=text, code=block.exit_code))
    (kept / "script").write_text("".join(script))
    environment = {
        "HOME": str(here),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "NIGHTGRID_GAMES": "pips",
        "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        "NIGHTGRID_BATCH_PROCESSES": "1",
    }
    for name in (REAL, "NUMBA_CACHE_DIR", "TMPDIR"):
        if name in os.environ:
            environment[name] = os.environ[name]
    with (kept / "blocks").open("wb") as told:
        done = subprocess.run(
            ["bash", "-c", f"exec 3>&1; . {kept}/script"],
            cwd=here,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=PAGE_TIMEOUT_S,
        )
    outputs = {
        number: (kept / f"{number}.out").read_text(errors="replace")
        for number in range(len(blocks))
        if (kept / f"{number}.out").exists()
    }
    if done.returncode == 0:
        return outputs, ""
    last = max(outputs, default=0)
    return outputs, f"{blocks[last].place} fails:\n{outputs.get(last, '')[-2000:]}"


def differing_outputs(blocks: list[Block], outputs: dict[int, str]) -> list[str]:
    """List every line of a `text output` block that the previous block has not printed."""
    missing = []
    printed = ""
    for number, block in enumerate(blocks):
        printed = outputs.get(number, printed)
        if block.is_output:
            missing += [f"{block.place}: {line!r}" for line in absent(block.text, printed)]
            if missing:
                missing.append(f"printed:\n{printed}")
    return missing


def absent(expected: str, printed: str) -> list[str]:
    """List the lines of `expected` that are not in this order in `printed`; … matches anything."""
    lines = iter(printed.splitlines())
    gone = []
    for line in expected.splitlines():
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
        if line.strip() and not any(re.fullmatch(pattern, found.rstrip()) for found in lines):
            gone.append(line)
            break
    return gone


def test_the_blocks_that_are_not_run_are_few_and_say_why():
    assert {block.place: block.reason for block in NOT_RUN if block.reason not in REASONS} == {}
    assert len(NOT_RUN) <= NOT_RUN_MAX
    unknown = [
        block.place for block in ALL_BLOCKS if block.language in ("bash", "shell", "console")
    ]
    assert unknown == [], "a block of commands is ```sh"


def app_commands() -> dict[str, click.Command]:
    group = typer.main.get_command(make_app())
    return dict(group.commands)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def cli() -> dict[str, click.Command]:
    return app_commands()


def wrong_words(command: list[str], cli: dict[str, click.Command]) -> str:
    """Describe the fault of a command that is not run; "" for none."""
    words = [w for w in command if not re.fullmatch(r"[A-Z][A-Z_]*=.*", w)]
    if words[:1] == ["sudo"]:
        words = words[1:]
    if not words:
        return ""
    program, rest = words[0].rpartition("/")[2], words[1:]
    for word in rest:
        place = word.rstrip("/")
        ours = re.match(r"(infra|service|docs|benchmarks|changelog\.d)/", place)
        if ours and not list(ROOT.glob(place)):
            return f"{word} is not there"
    if program != "nightgrid":
        return ""
    return wrong_options(rest, cli)


def wrong_options(words: list[str], cli: dict[str, click.Command]) -> str:
    """Parse the arguments of `nightgrid` as it does; return its error, "" for none."""
    if not words or words[0].startswith("-"):
        return ""
    if words[0] not in cli:
        return f"no command {words[0]}"
    try:
        cli[words[0]].make_context(words[0], list(words[1:]))
    except click.exceptions.Exit:
        return ""
    except typer.TyperException as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("block", NOT_RUN, ids=lambda block: block.place)
def test_a_command_that_is_not_run_is_one_all_the_same(block: Block, cli: dict[str, click.Command]):
    wrong = {
        " ".join(command): complaint
        for command in commands_of(block.text)
        if (complaint := wrong_words(command, cli))
    }
    assert wrong == {}


def deployed() -> Iterator[tuple[str, str]]:
    """Yield the commands of nightgrid in what infra/ deploys, with their place."""
    for block in ALL_BLOCKS:
        if block.language in ("ini", "yaml", "cron"):
            for line in re.findall(r"\S*nightgrid (?:[a-z]+ .*)", block.text):
                yield block.place, line
    units = (path.relative_to(ROOT).as_posix() for path in (ROOT / "infra/systemd").iterdir())
    for name in ("infra/crontab", "infra/compose.yaml", *units):
        text = re.sub(r"^\s*#.*$", "", (ROOT / name).read_text(), flags=re.MULTILINE)
        text = text.replace("$NIGHTGRID ", "nightgrid ")
        for line in re.findall(r"nightgrid [a-z]+ [^\n>]*", text):
            yield name, line
    for one in build(ROOT / "infra/kubernetes/overlays/shared-folder"):
        for container in containers(one):
            words = [*container.get("command", ()), *container.get("args", ())]
            if words[:1] == ["nightgrid"]:
                yield one["metadata"]["name"], " ".join(map(shlex.quote, words))


def test_deployed_commands_have_real_options(cli: dict[str, click.Command]):
    wrong = {}
    for place, line in deployed():
        for command in commands_of(line.replace("'", "").replace('"', "")):
            if complaint := wrong_words(command, cli):
                wrong[f"{place}: {line}"] = complaint
    assert wrong == {}


def options_named(text: str) -> set[tuple[str, str]]:
    """Find (command, option) in every inline text of a page that is a command of nightgrid."""
    found = set()
    for words in re.findall(r"`nightgrid ([a-z]+)([^`\n]*)`", text):
        found |= {(words[0], option) for option in re.findall(r"(?<![\w-])--[a-z-]+", words[1])}
        found.add((words[0], ""))
    return found


@pytest.mark.parametrize("page", pages())
def test_every_command_in_a_sentence_has_these_options(page: str, cli: dict[str, click.Command]):
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    taken = {
        (name, option)
        for name, command in cli.items()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts, "", "--help")
    }
    assert options_named(text) - taken == set()


def test_every_command_is_shown_at_work_in_a_page():
    run = " ".join(block.text for block in ALL_BLOCKS if block.is_run)
    shown = set(re.findall(r"\bnightgrid ([a-z]+)", run))
    assert {command.name for command in COMMANDS} - shown <= {
        "demo",  # make runs it, and warmup
        "schedule",  # tests/flows/prefect/test_schedule.py
        "warmup",
    }


WRONG = {
    "a misspelt option": (
        "```sh\nnightgrid show service/sample/pips/2026-01-05.json --levl x\n```\n",
        "--levl",
    ),
    "a file that a clone lacks": (
        "```sh\nnightgrid show 2026-01-05.json\n```\n",
        "2026-01-05.json",
    ),
    "a failure before the last line": ("```sh\nnightgrid show none.json\ntrue\n```\n", "none.json"),
    "another exit code": ("```sh exit=2\nnightgrid show none.json\n```\n", "exit code 3"),
    "a wrong name in Python": ("```python\nimport nightgrid\n\nnightgrid.reed\n```\n", "reed"),
    "a sum that is another": ("```sh\necho 4\n```\n\n```text output\n5\n```\n", "'5'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_command_is_noticed(name: str, clone: Path, programs: Path, tmp_path: Path):
    text, complaint = WRONG[name]
    blocks = blocks_of("page.md", text)
    outputs, failure = run_page(blocks, clone, programs, tmp_path)
    assert complaint in failure + "".join(differing_outputs(blocks, outputs))


NOT_RUN_WRONG = {
    "a misspelt option": "NIGHTGRID_REDIS_URL=x nightgrid worker --lakes lake &",
    "no command": "nightgrid work",
    "a value out of range": "/opt/nightgrid/.venv/bin/nightgrid worker --processes 0",
    "a file that is not there": "docker compose -f infra/composed.yaml up",
}


@pytest.mark.parametrize("name", NOT_RUN_WRONG)
def test_a_wrong_command_that_is_not_run_is_noticed(name: str, cli: dict[str, click.Command]):
    assert any(wrong_words(command, cli) for command in commands_of(NOT_RUN_WRONG[name]))
