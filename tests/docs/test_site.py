"""The settings of the docs site; `make site` builds it, with warnings as errors."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def conf() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs/site/conf.py"))


def test_every_page_is_in_a_table_of_contents(conf: dict[str, Any]):
    """Given the lists of docs/README.md, Then every page of the docs is in one."""
    text = conf["contents"]((ROOT / "docs/README.md").read_text())
    listed = {line for line in text.splitlines() if re.fullmatch(r"[\w./-]+", line)}
    docs = ROOT / "docs"
    kinds = ("tutorial", "how-to", "reference", "explanation")
    pages = {
        path.relative_to(docs).with_suffix("").as_posix()
        for kind in kinds
        for path in (docs / kind).glob("*.md")
    }
    assert pages - listed == set()
    assert all((docs / f"{name}.md").exists() for name in listed), listed


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ('<script src="https://host.example/a.js"></script>', True),
        ('<link rel="stylesheet" href="//host.example/a.css">', True),
        ("<style>@import 'https://host.example/a.css'</style>", True),
        ("<style>a { background: url(http://host.example/a.png) }</style>", True),
        ('<img src="_images/pips.svg"><a href="https://host.example/">there</a>', False),
    ],
)
def test_what_a_page_fetches_from_other_hosts_is_found(
    conf: dict[str, Any], tmp_path: Path, text: str, is_found: bool
):
    (tmp_path / "page.html").write_text(text)
    assert bool(conf["fetched_from_outside"](tmp_path)) is is_found
