"""Draw the README's pictures from real output: `python docs/picture.py`.

Runs the commands, keeps what they print, and writes it as SVG without any outside font.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FONT_FACE = re.compile(r"@font-face \{.*?\}\n?", re.DOTALL)
LAST_LINE = re.compile(r"pips jobs worked")
"""Of the demo's output everything up to here is shown; after it come the folders of a machine."""

PICTURES = {
    "solve.svg": ["solve", "service/sample/pips/2026-01-05.json", "--level", "hard"],
    "demo.svg": ["demo", "--no-prefect"],
}


def run(arguments: list[str]) -> list[str]:
    """Run nightgrid and return the lines of its standard output, boards in colour."""
    colour = {"FORCE_COLOR": "1"} if arguments[0] in ("solve", "show") else {}
    done = subprocess.run(
        [sys.executable, "-m", "service.cli", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | colour,
    )
    lines = done.stdout.rstrip("\n").split("\n")
    last = [i for i, line in enumerate(lines) if LAST_LINE.search(line)]
    return lines[: last[0] + 1] if last else lines


def draw(name: str, arguments: list[str]) -> None:
    """Write one picture."""
    command = " ".join(["nightgrid", *arguments])
    lines = [Text.from_ansi(line) for line in (f"$ {command}", "", *run(arguments))]
    console = Console(record=True, width=max(map(len, lines)) + 1, file=io.StringIO())
    for line in lines:
        console.print(line, soft_wrap=True)
    svg = console.export_svg(title="nightgrid", theme=MONOKAI)
    svg = FONT_FACE.sub("", svg).replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    # Some viewers drop the no-break spaces that a line begins with; preserved ones stay.
    svg = svg.replace("&#160;", " ").replace("<svg ", '<svg xml:space="preserve" ', 1)
    (DOCS / name).write_text(svg)


if __name__ == "__main__":
    # The demo shows its first run, not that there is nothing left to do.
    shutil.rmtree(ROOT / "var" / "demo" / "lake", ignore_errors=True)
    for picture, words in PICTURES.items():
        draw(picture, words)
