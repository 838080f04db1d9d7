"""Draw the README's pictures from real output: `python docs/picture.py [NAME ...]`.

Terminal pictures run the commands, keep what they print, and write it as SVG without any outside
font. Pictures of published Strands boards are drawn of the best cover that the solver finds, that
of article 003's board of Letter Boxed of the best chain of ENABLE's words; they need the folder of
published payloads (NIGHTGRID_ARCHIVE) and of word lists beside it, and are skipped without. Other
boards are generated.
"""

from __future__ import annotations

import datetime as dt
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
LAST_LINE = re.compile(r"letterboxed jobs worked")
"""Of the demo's output everything up to here is shown."""
PLACES = re.compile(r"^(The Parquet lies in:|  [a-z ]+  \S*/)")
"""Lines that name the folders of a machine are not."""

PICTURES = {
    "solve.svg": ["solve", "service/sample/pips/2026-01-05.json", "--level", "hard"],
    "demo.svg": ["demo", "--no-prefect"],
}
ARCHIVE = Path(os.environ.get("NIGHTGRID_ARCHIVE") or ROOT.parent / "shared" / "puzzles")
WORDS = ARCHIVE.parent / "words" / "enable1.txt"
BOARDS = {
    "letterboxed-taperdnilyco.svg": (
        ["solve", "--sides", "TAP,ERD,NIL,YCO", "--lexicon", str(WORDS)],
        [],
    ),
    "letterboxed-5x2.svg": (
        ["solve"],
        ["--game", "letterboxed", "--sides", "5", "--letters", "2", "--vowels", "4", "--seed", "8"],
    ),
    "tiles.svg": (["solve", "--best", "1"], ["--game", "tiles", "--seed", "7"]),
}
"""Pictures that --svg writes: the command, and what generates its board if it names none."""
STRANDS = ("2025-04-10", "2024-04-18")
"""Published boards of which the best cover is drawn, as pictures/strands-DATE.svg."""


def run(arguments: list[str]) -> list[str]:
    """Run nightgrid and return the lines of its standard output, boards in colour."""
    colour = {"FORCE_COLOR": "1"} if arguments[0] in ("solve", "show") else {}
    done = subprocess.run(
        [sys.executable, "-m", "nightgrid.service.cli.app", *arguments],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | colour,
    )
    lines = [line for line in done.stdout.rstrip("\n").split("\n") if not PLACES.match(line)]
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


def draw_strands(date: str) -> None:
    """Draw a published board with its best cover, and say whether that is the official answer."""
    from nightgrid.archive.games.strands.official import is_same_cover
    from nightgrid.archive.games.strands.payload import read_payload
    from nightgrid.archive.payloads.published import Published
    from nightgrid.archive.words.binding import bind_game
    from nightgrid.service.games.strands.svg import draw_svg
    from nightgrid.solvers.algebra import Ask

    path = ARCHIVE / "strands" / f"{date}.json"
    if not path.exists():
        print(f"skipped strands-{date}.svg: there is no {path}; set NIGHTGRID_ARCHIVE")
        return
    (found,) = read_payload(path.read_bytes(), dt.date.fromisoformat(date))
    assert isinstance(found, Published)
    game = bind_game("strands")
    count = game.solve(found.puzzle, Ask(kind="count")).count
    (best,) = game.solve(found.puzzle, Ask(kind="best", limit=1)).solutions
    official = found.solution is not None and is_same_cover(found.solution, best)
    note = f"Best of {count:,} covers{', and the official one' if official else ''}."
    picture = DOCS / "pictures" / f"strands-{date}.svg"
    picture.parent.mkdir(exist_ok=True)
    picture.write_text(draw_svg(found.puzzle, best, f"{date}: {found.clue}", note))
    print(f"{picture.name}: {note}")


def draw_board(name: str, solve: list[str], generate: list[str]) -> None:
    """Draw a board that is generated, or named by the command, with its best solution."""
    if "--lexicon" in solve and not WORDS.exists():
        print(f"skipped {name}: there is no {WORDS}; set NIGHTGRID_ARCHIVE")
        return
    command = [sys.executable, "-m", "nightgrid.service.cli.app"]
    board = b""
    if generate:
        made = [*command, "generate", *generate, "--days", "1"]
        board = subprocess.run(made, cwd=ROOT, check=True, capture_output=True).stdout
    picture = DOCS / "pictures" / name
    drawn = [*command, *solve, "--svg", str(picture)]
    done = subprocess.run(drawn, cwd=ROOT, check=True, capture_output=True, input=board)
    found = next(line for line in done.stdout.decode().splitlines() if line.startswith("Found"))
    print(f"{name}: {found}")


if __name__ == "__main__":
    names = sys.argv[1:] or [*PICTURES, *BOARDS, *STRANDS]
    if "demo.svg" in names:
        # The demo shows its first run, not that there is nothing left to do.
        shutil.rmtree(ROOT / "var" / "demo" / "lake", ignore_errors=True)
    for name in names:
        if name in STRANDS:
            draw_strands(name)
        elif name in BOARDS:
            draw_board(name, *BOARDS[name])
        else:
            draw(name, PICTURES[name])
