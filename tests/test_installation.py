"""An installed wheel works in a folder full of conflicting names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("archive", "flows", "service", "solvers", "workers")
SAMPLE = ROOT / "service/sample/pips/2026-01-01.json"
TRAP = "raise ImportError('a module of the current folder was imported')\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as a release builds it: from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (found,) = folder.glob("nightgrid-*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, and this one's dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    subprocess.run([*install, "--no-deps", "--no-index", "--offline", wheel], check=True)
    # Path files are not read recursively, so this environment's editable installation is left out.
    (packages,) = (folder / "lib").glob("python3*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A folder with a module or a package under the name of every floor."""
    for name in FLOORS[:2]:
        (tmp_path / f"{name}.py").write_text(TRAP)
    for name in FLOORS[2:]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(TRAP)
    return tmp_path


def run(python: Path, folder: Path, *words: str | Path) -> str:
    """Run Python in a folder that is also on the path, and return what it printed."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("NIGHTGRID_")
    }
    done = subprocess.run(
        [python, *words],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_puts_one_name_into_site_packages(wheel: Path):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"nightgrid"}


def test_a_wheel_has_every_file_of_the_floors(wheel: Path):
    """Given static files, fonts, samples and weights, Then the wheel has them too."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git clone")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *FLOORS]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wanted = {f"nightgrid/{name}" for name in told.split("\0") if (ROOT / name).is_file()}
    names = zipfile.ZipFile(wheel).namelist()
    assert wanted - set(names) == set()
    kinds = {Path(name).suffix for name in names if name.startswith("nightgrid/")}
    assert {".py", ".js", ".css", ".html", ".woff2", ".npz", ".json", ".typed"} <= kinds


def test_the_command_shows_the_version_of_the_wheel(wheel: Path, python: Path, trapped: Path):
    """Given a wheel from a source distribution, Then both and the command have one version."""
    version = wheel.name.split("-")[1]
    assert [path.name for path in wheel.parent.glob("*.tar.gz")] == [f"nightgrid-{version}.tar.gz"]
    command = python.parent / "nightgrid"
    assert run(python, trapped, command, "--version").split() == ["nightgrid", version]
    assert "--port" in run(python, trapped, command, "serve", "--help")


def test_the_wheel_is_imported(python: Path, trapped: Path):
    script = "import nightgrid, nightgrid.workers.settings as s; print(nightgrid.__file__)"
    assert Path(run(python, trapped, "-c", script).strip()).is_relative_to(python.parents[1])


def test_solving_by_the_module_and_from_python(python: Path, trapped: Path):
    payload = run(python, trapped, "-m", "nightgrid", "generate", "--days", "1", "--seed", "5")
    (trapped / "board.json").write_text(payload)
    told = run(python, trapped, "-m", "nightgrid", "solve", "board.json", "--count", "--json")
    script = (
        "import json, nightgrid\n"
        "for board in nightgrid.read('board.json'):\n"
        "    outcome = nightgrid.solve(board, 'count')\n"
        "    print(json.dumps([board.level, outcome.count]))\n"
    )
    assert run(python, trapped, "-c", script).count("\n") == told.count("\n") > 0


@pytest.mark.long(short="tests/test_installation.py::test_solving_by_the_module_and_from_python")
def test_the_demo_with_workers_and_a_night(python: Path, trapped: Path):
    command = python.parent / "nightgrid"
    # With workers, which import modules named like the traps; Prefect's server is tested elsewhere.
    run(python, trapped, command, "demo", "--no-prefect")
    (trapped / "payloads").mkdir()
    words = ["generate", "--days", "2", "--seed", "7", "--out", "payloads"]
    run(python, trapped, command, *words)
    night = ["nightly", "--source", "payloads", "--lake", "lake", "--no-prefect", "--inline"]
    run(python, trapped, command, *night)
    script = "import nightgrid; print(nightgrid.Lake('lake').view('counts').num_rows)"
    assert int(run(python, trapped, "-c", script)) == 6


INSTALLED = {
    "query": ["query", "select game, level, count from counts", "--format", "json"],
    "flows,serve,query": ["nightly", "--source", "payloads", "--lake", "night", "--inline"],
    "worker": ["worker", "--help"],
}
"""Extras of docs/how-to/install.md, each with a command that needs it."""


@pytest.fixture(scope="module")
def worked_lake(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with payloads of a day, and a lake with their results."""
    folder = tmp_path_factory.mktemp("worked")
    (folder / "payloads").mkdir()
    shutil.copy(SAMPLE, folder / "payloads")
    words = ["nightly", "--source", "payloads", "--lake", "lake", "--no-prefect", "--inline"]
    run(python, folder, python.parent / "nightgrid", *words)
    return folder


@pytest.mark.long(reason="it installs every dependency from the package index")
@pytest.mark.parametrize("extras", INSTALLED)
def test_a_wheel_declares_all_that_it_needs(
    wheel: Path, worked_lake: Path, tmp_path: Path, extras: str
):
    """Given an empty environment, Then the wheel's own dependencies make its commands work."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    uv = [sys.executable, "-m", "uv", "pip"]
    index = os.environ.get("PIP_INDEX_URL")
    subprocess.run(
        [
            *(*uv, "install", "--quiet", "--system-certs", "--python", python),
            *(("--default-index", index) if index else ()),
            *("--constraint", ROOT / "constraints.txt", f"nightgrid[{extras}] @ {wheel.as_uri()}"),
        ],
        # Away from pyproject.toml, whose uv settings a user of the wheel does not have.
        cwd=tmp_path,
        check=True,
    )
    subprocess.run([*uv, "check", "--quiet", "--python", python], cwd=tmp_path, check=True)

    shutil.copytree(worked_lake, tmp_path / "work")
    program = environment / "bin" / "nightgrid"
    solved = run(python, tmp_path / "work", program, "solve", SAMPLE, "--count", "--json")
    assert [json.loads(line)["status"] for line in solved.splitlines()] == ["solved"] * 3
    told = run(python, tmp_path / "work", program, *INSTALLED[extras])
    if extras == "query":
        assert {json.loads(line)["level"] for line in told.splitlines()} == {
            "easy",
            "medium",
            "hard",
        }
