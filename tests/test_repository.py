"""Checks of the whole repository: its files, its words, its packages."""

from __future__ import annotations

import fcntl
import re
import runpy
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("archive", "flows", "service", "solvers", "workers")
MODULE_LINES_MAX = 450
FOLDER_MODULES_MAX = 16
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


def test_every_declared_dependency_is_explained():
    rows = re.findall(
        r"^\| (`.*?`) \|", (ROOT / "docs/reference/dependencies.md").read_text(), re.MULTILINE
    )
    explained = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert declared() - explained == set()
    gone = {name for name in explained - declared() if not name.startswith("nightgrid")}
    assert gone == set()


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


def test_every_link_leads_to_a_file_and_its_heading():
    link = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]+))?\)")
    gone = [
        f"{page.relative_to(ROOT)}: {target}#{anchor}"
        for page in tracked()
        if page.suffix == ".md"
        for target, anchor in link.findall(page.read_text())
        if not (there := page.parent / target if target else page).exists()
        or (anchor and anchor not in anchors(there))
    ]
    assert gone == []


def anchors(page: Path) -> set[str]:
    """Name the headings of a page as links do: lower case, dashes for blanks."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_generated_pages_are_up_to_date():
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


def test_no_folder_of_the_product_is_crowded():
    numbers = Counter(path.parent for path in modules() if path.stem != "__init__")
    assert {folder: n for folder, n in numbers.items() if n > FOLDER_MODULES_MAX} == {}


def test_modules_are_short_enough_to_hold_one_idea():
    lengths = {p.relative_to(ROOT).as_posix(): len(p.read_text().splitlines()) for p in modules()}
    assert {name: n for name, n in lengths.items() if n > MODULE_LINES_MAX} == {}


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


def test_the_crontab_runs_with_the_path_of_cron_and_reports_how_a_night_ended(tmp_path: Path):
    """Given cron's PATH, Then the line finds the program, and reports every code but 0."""
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
    """Given docs/adr, Then each page has its own number.

    Numbers are assigned before pages are written, so one may be missing for a while.
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
