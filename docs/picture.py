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

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from nightgrid.service.drawing.svg import Page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FONT = "'DejaVu Sans Mono', Menlo, Consolas, monospace"
FONT_PX = 20
CHAR_PX = 12.0
LINE_PX = 23
"""No more than a font of that size has for a line: lines of box characters touch."""
BASE_PX = 18
"""From the top of a line to the base line."""
EDGE_PX = 20
GROUND = "#16161a"
THEME = MONOKAI
PICTURES = {
    "solve.svg": ["solve", "service/sample/pips/2026-01-05.json", "--level", "hard"],
    "demo.svg": ["demo", "--no-prefect"],
}
ARCHIVE = Path(os.environ.get("NIGHTGRID_ARCHIVE") or ROOT.parent / "shared" / "puzzles")
WORDS = ARCHIVE.parent / "words" / "enable1.txt"
BOARDS = {
    "pips.svg": (["solve", "service/sample/pips/2026-01-05.json", "--level", "hard"], []),
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
    """Run nightgrid and return the lines of its standard output, in colour."""
    words = [sys.executable, "-m", "nightgrid.service.cli.app", *arguments]
    environment = os.environ | {"COLORTERM": "truecolor", "FORCE_COLOR": "1", "NO_COLOR": ""}
    done = subprocess.run(
        words, cwd=ROOT, check=True, capture_output=True, text=True, env=environment
    )
    return done.stdout.rstrip("\n").split("\n")


def draw(name: str, arguments: list[str]) -> None:
    """Write one picture of a terminal."""
    lines = [f"$ {' '.join(['nightgrid', *arguments])}", "", *run(arguments)]
    (DOCS / name).write_text(terminal_svg(lines))


def terminal_svg(lines: list[str]) -> str:
    """Draw what a terminal shows as the text of an SVG file.

    Every word has a place of its own: viewers differ in what they make of blanks, and Chromium
    keeps none. The width of each word is given, so that columns stand whatever the font.
    """
    console = Console(color_system="truecolor", force_terminal=True, file=io.StringIO())
    texts = [Text.from_ansi(line) for line in lines]
    wide = CHAR_PX * max(text.cell_len for text in texts) + 2 * EDGE_PX
    high = LINE_PX * len(texts) + 2 * EDGE_PX
    look = {"font_family": FONT, "font_size": FONT_PX, "fill": THEME.foreground_color.hex}
    picture = Page("What a terminal shows", wide, high, GROUND, **look)
    for row, text in enumerate(texts):
        column = 0
        for run, style, _ in text.render(console):
            _draw_run(picture, row, column, run, style or Style.null())
            column += cell_len(run)
    return picture.text()


def _draw_run(picture: Page, row: int, column: int, run: str, style: Style) -> None:
    """Draw a text of one style: its ground, and then its words."""
    x, y = EDGE_PX + CHAR_PX * column, EDGE_PX + LINE_PX * row
    if style.bgcolor is not None:
        ground = style.bgcolor.get_truecolor(THEME, foreground=False).hex
        # A little more than a character: edges that only touch show a line between them.
        picture.add(
            "rect", x=x, y=y, width=CHAR_PX * cell_len(run) + 0.5, height=LINE_PX + 0.5, fill=ground
        )
    ink = None if style.color is None else style.color.get_truecolor(THEME).hex
    weight, opacity = "700" if style.bold else None, 0.6 if style.dim else None
    for word in re.finditer(r"\S+", run):
        before = cell_len(run[: word.start()])
        picture.add(
            "text",
            word[0],
            x=x + CHAR_PX * before,
            y=y + BASE_PX,
            textLength=CHAR_PX * cell_len(word[0]),
            fill=ink,
            font_weight=weight,
            opacity=opacity,
        )


def draw_strands(date: str) -> None:
    """Draw a published board with its best cover, and say whether that is the official answer."""
    from nightgrid.archive.games.strands.payload import read_payload
    from nightgrid.archive.games.strands.plug import PLUG
    from nightgrid.archive.payloads.published import Published
    from nightgrid.archive.words.binding import bind_game
    from nightgrid.service.games.strands.view import svg
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
    official = found.solution is not None and PLUG.is_same(found.solution, best)
    note = f"Best of {count:,} covers{', and the official one' if official else ''}."
    picture = DOCS / "pictures" / f"strands-{date}.svg"
    picture.parent.mkdir(exist_ok=True)
    picture.write_text(svg(found.puzzle, best, f"{date}: {found.clue}", note))
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
