"""Fragments of changelog.d/ become a release of CHANGELOG.md."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def towncrier(*words: str, cwd: Path) -> str:
    return subprocess.run(
        [sys.executable, "-m", "towncrier", *words],
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_a_release_comes_above_earlier_ones(tmp_path: Path):
    """Given one fragment of each type, When a release is built, Then it comes first."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    before = (ROOT / "CHANGELOG.md").read_text()
    (tmp_path / "CHANGELOG.md").write_text(before)
    (tmp_path / "changelog.d").mkdir()
    types = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]["type"]
    for kind in types:
        fragment = tmp_path / "changelog.d" / f"+one.{kind['directory']}.md"
        fragment.write_text(f"Something is {kind['directory']}.\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    towncrier("build", "--yes", "--version", "9.9.9", "--date", "2026-01-01", cwd=tmp_path)
    after = (tmp_path / "CHANGELOG.md").read_text()
    headings = re.findall(r"^##+ .*$", after, re.MULTILINE)
    assert headings[:5] == [
        "## 9.9.9 (2026-01-01)",
        *(f"### {kind['name']}" for kind in types),
    ]
    assert after.endswith(before.split("below this line -->", 1)[1])
    assert not list((tmp_path / "changelog.d").glob("+*.md"))
