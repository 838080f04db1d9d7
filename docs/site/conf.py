"""Settings of the docs site: `make site` builds it from the pages as they stand in the repository.

The source folder is the root of the repository, so that links between pages are what they are on a
forge. Links to files that are no pages (source, pictures) become downloads. Nothing is fetched:
neither when the site is built nor when it is read. Warnings are errors.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.errors import SphinxError

ROOT = Path(__file__).resolve().parents[2]

project = "nightgrid"
author = "the nightgrid contributors"
release = metadata.version("nightgrid")
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/RESULTS.md",
    "docs/**.md",
]
# Folders without pages: sparing a walk through an environment.
exclude_patterns = [".*", "archive", "build", "changelog.d", "dist", "flows", "infra", "lake"]
exclude_patterns += ["nightgrid", "service", "solvers", "tests", "var", "workers"]

# Headings are linked to as on a forge: lower case, dashes for blanks.
myst_heading_anchors = 6

html_theme = "furo"
html_title = f"nightgrid {release}"
html_copy_source = False
html_show_sphinx = False

_HEADING = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_PAGE = re.compile(r"^- \[[^\]]+\]\((?P<page>[^)#]+)\.md\)", re.MULTILINE)
_BESIDE = ("../README", "../CHANGELOG", "../CONTRIBUTING", "../benchmarks/RESULTS")
"""Pages outside docs/, as the list of pages names them."""


def contents(text: str) -> str:
    """Write a hidden table of contents for each list of pages, under the heading of the list.

    On a forge the lists are the contents; the site wants the same once more as directives.
    """
    parts = _HEADING.split(text)
    blocks = []
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        pages = [match["page"] for match in _PAGE.finditer(body)]
        blocks.append((title.partition(":")[0], pages))
    blocks.append(("The project", list(_BESIDE)))
    return "\n".join(
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```", ""])
        for title, pages in blocks
    )


def _with_contents(_app: Sphinx, name: str, source: list[str]) -> None:
    if name == root_doc:
        source[0] += "\n" + contents(source[0])
    if name == "docs/adr/README":
        names = sorted(page.stem for page in (ROOT / "docs/adr").glob("[0-9]*.md"))
        source[0] += "\n" + "\n".join(["```{toctree}", ":hidden:", "", *names, "```", ""])


_FETCHED = re.compile(
    rb"""(?:\bsrc(?:set)?=|<link\b[^>]*\bhref=|@import|url\()\s*["']?(?:https?:)?//[^"')\s>]+"""
)
"""What a browser fetches by itself: scripts, pictures, style sheets, fonts."""


def fetched_from_outside(folder: Path) -> list[str]:
    """Name what pages and style sheets of a site would fetch from other hosts."""
    return [
        f"{path.relative_to(folder)}: {match.group().decode(errors='replace')}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".html", ".css"}
        for match in _FETCHED.finditer(path.read_bytes())
    ]


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    found = fetched_from_outside(Path(app.outdir))
    if found:
        raise SphinxError("the site would fetch from other hosts: " + "; ".join(found[:5]))
    (Path(app.outdir) / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>nightgrid</title>'
        f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
        f'<a href="{root_doc}.html">nightgrid</a>\n'
    )


def setup(app: Sphinx) -> None:
    """Add tables of contents to pages when they are read, and check what was built."""
    # A forge draws these diagrams; a site that fetches no program shows their text.
    app.add_lexer("mermaid", TextLexer)
    app.connect("source-read", _with_contents)
    app.connect("build-finished", _finish)
