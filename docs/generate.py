"""Write the parts of the pages that the source knows better than a person: `make docs`.

The settings of reference/settings.md come from `nightgrid.workers.settings`, the commands of
reference/cli.md from their own help, the codes of reference/exit-codes.md from `Exit`, the metrics
of reference/metrics.md from their modules, the names of reference/python.md from the package, the
problems of reference/http.md and reference/openapi.json from the HTTP service, the index of
adr/README.md from the decisions. A test fails when a page is behind.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nightgrid
from nightgrid.service.cli.app import make_app
from nightgrid.service.cli.commands import COMMANDS
from nightgrid.service.http import problems
from nightgrid.service.http.app import API, create_app
from nightgrid.service.http.monitoring import gauges
from nightgrid.service.http.monitoring import requests as service_metrics
from nightgrid.service.http.monitoring.queue_snapshot import QueueSnapshot
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.workers import metrics as worker_metrics
from nightgrid.workers.settings import Settings, setting_fields

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
HELP_CHARS = 100
RULES = re.compile(r"^Rules of .*?(?=^  Example)", re.MULTILINE | re.DOTALL)
"""The rules of all games in the help of a command: a page needs them once."""
SETTINGS_SOURCE = ROOT / "workers" / "settings.py"
BEGIN, END = "<!-- begin: written by `make docs` -->\n", "<!-- end -->\n"


def settings() -> str:
    """List every setting with its default and what it means."""
    classes = ast.parse(SETTINGS_SOURCE.read_text()).body
    body = next(node for node in classes if getattr(node, "name", "") == "Settings").body
    rows: list[str] = []
    undescribed: list[str] = []
    for node in body[1:]:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            undescribed += [name for name in (node.target.id,) if name in setting_fields()]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and undescribed:
            # A text under several settings describes them together.
            texts = [" ".join(str(node.value.value).split()), *['"'] * (len(undescribed) - 1)]
            rows += [
                f"| `NIGHTGRID_{name.upper()}` | {_default(name)} | {text} |"
                for name, text in zip(undescribed, texts, strict=True)
            ]
            undescribed = []
        elif isinstance(node, ast.FunctionDef):
            break
    rows += [f"| `NIGHTGRID_{name.upper()}` | {_default(name)} | |" for name in undescribed]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows, ""])


def _default(name: str) -> str:
    default = Settings.model_fields[name].default
    if name == "batch_processes":
        return "one a core"
    return "" if default is None else f"`{default}`"


def metrics() -> str:
    """List every metric with its type and labels, by who exports it."""
    empty = QueueSnapshot(jobs=Counter(), oldest_s=None, alive={})
    groups: dict[str, Iterable[Any]] = {
        "Workers, drivers, keeper: the port of each host": worker_metrics.METRICS,
        "The service: requests": service_metrics.METRICS,
        "The service: jobs on demand": gauges.job_gauges(empty),
        "The service: queues and workers": gauges.queue_gauges(empty),
        "The service: nights": gauges.night_gauges({}),
        "The service: the lake": gauges.lake_gauges({}, {}, {}, 0.0),
    }
    lines = []
    for title, families in groups.items():
        lines += [f"## {title}", ""]
        lines += ["| metric | type | labels | meaning |", "|---|---|---|---|"]
        for family in families:
            (about,) = family.describe() if hasattr(family, "describe") else (family,)
            name = f"{about.name}_total" if about.type == "counter" else about.name
            labels = ", ".join(f"`{label}`" for label in family._labelnames)  # noqa: SLF001 - it has no other name
            lines.append(f"| `{name}` | {about.type} | {labels} | {about.documentation} |")
        lines.append("")
    return "\n".join(lines)


def public_names() -> str:
    """List every public name of the package with its signature and what it says of itself."""
    lines = []
    for name in sorted(nightgrid.__all__, key=lambda name: (name[0].isupper(), name)):
        found = getattr(nightgrid, name)
        told = inspect.getdoc(found) or ""
        lines += [f"## `nightgrid.{name}`", ""]
        if inspect.isfunction(found) or name in ("Board", "Ask", "Budget", "Lake"):
            lines += ["```python", f"{name}{_signature(found)}", "```", ""]
        lines += [told, ""]
        if name == "Lake":
            for method, function in inspect.getmembers(found, inspect.isfunction):
                if not method.startswith("_"):
                    lines += [f"- `.{method}{_signature(function)}`: {_first_line(function)}"]
            lines += [""]
    return "\n".join(lines)


def _signature(found: Callable[..., Any]) -> str:
    """Write a signature; long ones take a line for each parameter, as the source does."""
    signature = inspect.signature(found)
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    # Annotations are texts, which a signature writes in quotes; defaults keep theirs.
    parameters = [p.replace(annotation=_Plain(p.annotation)) for p in parameters]
    returns = _Plain(signature.return_annotation)
    whole = str(signature.replace(parameters=parameters, return_annotation=returns))
    if len(whole) < 80:
        return whole
    texts = [str(p) for p in parameters]
    if any(p.kind is p.KEYWORD_ONLY for p in parameters):
        first = next(i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY)
        texts.insert(first, "*")
    body = "".join(f"    {text},\n" for text in texts)
    return f"(\n{body})" + whole[whole.rindex(")") + 1 :]


class _Plain:
    """An annotation that is written as it stands in the source."""

    def __init__(self, annotation: object) -> None:
        self._text = str(annotation)

    def __repr__(self) -> str:
        return self._text


def _first_line(found: Callable[..., Any]) -> str:
    return (inspect.getdoc(found) or "").split("\n", maxsplit=1)[0]


def exit_codes() -> str:
    """List what the exit codes mean."""
    rows = [f"| {code.value} | {code.meaning} |" for code in sorted(Exit)]
    return "\n".join(["| exit code | meaning |", "|---|---|", *rows, ""])


COMMANDS_HEAD = """# The command line

What a command ends with is on the page of [exit codes](exit-codes.md), what it reads and writes on
the page of [names and formats](formats.md)."""


def commands() -> str:
    """Write the help of every command."""
    parts = [COMMANDS_HEAD]
    for words in ([], *([command.name] for command in COMMANDS)):
        out = io.StringIO()
        # The help is as wide as the terminal, and a page is not written for one terminal.
        with patch.dict(os.environ, COLUMNS=str(HELP_CHARS)), contextlib.redirect_stdout(out):
            make_app(next(iter(words), None))(
                [*words, "--help"], prog_name="nightgrid", standalone_mode=False
            )
        name = " ".join(["nightgrid", *words])
        text = out.getvalue().strip()
        if words != ["solve"]:
            text = RULES.sub("Rules: as of nightgrid solve.\n\n", text)
        parts += ["", f"## {name}", "", f"```\n{text}\n```"]
    return "\n".join([*parts, ""])


def decisions() -> str:
    """List every decision with its status and its date."""
    rows = []
    for path in sorted((DOCS / "adr").glob("0*.md")):
        title, _, line = path.read_text().splitlines()[:3]
        number, _, name = title.removeprefix("# ").partition(". ")
        status, _, date = line.removeprefix("Status: ").rpartition(", ")
        rows.append(f"| [{number}]({path.name}) | {name} | {status} | {date} |")
    return "\n".join(["| | decision | status | date |", "|---|---|---|---|", *rows, ""])


def openapi() -> str:
    """Write what GET /openapi.json gives, with the version of the API in the program's place."""
    settings = ServiceSettings(workers=Settings.model_construct(lake="lake"))
    told = create_app(settings).openapi()
    # The service tells its own version; that of a page would change with every commit.
    told["info"]["version"] = API.removeprefix("/")
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


PAGES = {
    DOCS / "adr/README.md": decisions,
    DOCS / "reference/cli.md": commands,
    DOCS / "reference/exit-codes.md": exit_codes,
    DOCS / "reference/metrics.md": metrics,
    DOCS / "reference/settings.md": settings,
    DOCS / "reference/python.md": public_names,
    DOCS / "reference/http.md": problems.markdown,
    DOCS / "reference/openapi.json": openapi,
}


def page(path: Path) -> str:
    """Make a page again."""
    if PAGES[path] is openapi:
        return openapi()
    if PAGES[path] is commands:
        # All of it comes from the source.
        return f"{BEGIN}\n{commands()}\n{END}"
    head, rest = path.read_text().split(BEGIN, 1)
    return f"{head}{BEGIN}\n{PAGES[path]()}\n{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(page(path))
