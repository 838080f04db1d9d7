"""Print benchmark tables, and put them into benchmarks/RESULTS.md section by section."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "RESULTS.md"
_TITLE = """# Results

Each section is written by the command that it names. Where a question is answered for good, the \
program is gone, and the section names the commit that has it.
"""


@dataclass(slots=True, kw_only=True)
class Section:
    """One table of results with the command that makes it."""

    name: str
    title: str
    command: str
    blocks: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.blocks.append(text)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table, numbers to the right."""
        cells = [[str(cell) for cell in row] for row in rows]
        widths = [max(len(row[i]) for row in [list(head), *cells]) for i in range(len(head))]

        def line(row: Sequence[str]) -> str:
            padded = (
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            return f"| {' | '.join(padded)} |"

        rule = [
            "-" * width if i == 0 else f"{'-' * (width - 1)}:" for i, width in enumerate(widths)
        ]
        self.blocks.append("\n".join([line(list(head)), line(rule), *map(line, cells)]))

    def render(self) -> str:
        """Write the section as Markdown."""
        return "\n\n".join([f"## {self.title}", f"`{self.command}`", machine(), *self.blocks])


def machine() -> str:
    """Describe the machine on which the figures were measured."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        model = found.group(1) if found else model
    load = f", load {os.getloadavg()[0]:.1f} when it ended" if hasattr(os, "getloadavg") else ""
    return (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {os.cpu_count()} cores of {model}{load}; "
        f"Python {platform.python_version()}, Numba {version('numba')}."
    )


def write(section: Section, path: Path = RESULTS) -> None:
    """Replace the section in the results, or add it at the end."""
    begin, end = f"<!-- begin {section.name} -->", f"<!-- end {section.name} -->"
    body = f"{begin}\n{section.render()}\n{end}\n"
    text = path.read_text(encoding="utf-8") if path.exists() else _TITLE
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}\n", re.DOTALL)
    if pattern.search(text):
        text = pattern.sub(lambda _: body, text)
    else:
        text = f"{text.rstrip()}\n\n{body}"
    path.write_text(text, encoding="utf-8")


def finish(section: Section, *, to_results: bool) -> None:
    """Print the section, and write it to the results if wanted."""
    print(section.render(), end="\n\n", flush=True)
    if to_results:
        write(section)


def add_write(parser: argparse.ArgumentParser) -> None:
    """Add the option to put the section into the results."""
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")


def command_line(name: str, arguments: Sequence[str] | None = None) -> str:
    """Write the command of this program as it was called, without `--write`."""
    given = sys.argv[1:] if arguments is None else arguments
    shown = [argument for argument in given if argument != "--write"]
    return shlex.join(["python", "-m", f"benchmarks.{name}", *shown])


def ms(nanoseconds: float) -> str:
    """Write nanoseconds as milliseconds."""
    return f"{nanoseconds / 1e6:,.3f}"


def seconds(value: float, *, complete: bool = True) -> str:
    """Write seconds; `>` stands before a time at which a limit ended the work."""
    return f"{'' if complete else '> '}{value:,.3f}"
