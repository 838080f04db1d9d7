"""Output of commands: answers, notes, tables."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nightgrid.service.terminal.colour import coloured, console

if TYPE_CHECKING:
    from rich.text import Text


def prepare_streams() -> bool:
    """Replace characters that the terminal cannot show; return whether answers can be written.

    They cannot if the process was started with standard output closed.
    """
    has_output = sys.stdout is not None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            null = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the process
            setattr(sys, name, null)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    return has_output


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Make SIGTERM interrupt the body as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        # Signals only go to the main thread.
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def emit(value: Mapping[str, Any]) -> None:
    """Print one JSON object as one line, and flush."""
    print(json_line(value), flush=True)


def emit_start(head: Mapping[str, Any], key: str) -> None:
    """Start a JSON object whose list under `key` is too long to hold."""
    sys.stdout.write(f"{json_line(head)[:-1]},{json_line(key)}:[")


def emit_text(text: str, *, first: bool) -> None:
    """Print one item of that list, which is JSON already."""
    sys.stdout.write(text if first else f",{text}")


def emit_end(tail: Mapping[str, Any]) -> None:
    """End the list and its object with further members, and the line."""
    print(f"],{json_line(tail)[1:]}" if tail else "]}", flush=True)


def json_line(value: Any) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, separators=(",", ":"))


def say(text: str = "") -> None:
    """Print a line for people to standard output."""
    print(text)


def say_attention(sections: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Print what needs attention: headings, each followed by its lines."""
    for heading, lines in sections:
        say()
        say(heading)
        for line in lines:
            say(f"  {line}")


def say_end(paths: Mapping[str, str]) -> None:
    """Print the paths of the Parquet files that a job wrote."""
    say()
    say("The Parquet files are in:")
    width = max((len(name) for name in paths), default=0)
    for name, path in paths.items():
        say(f"  {name:<{width}}  {path}")


def say_drawing(drawing: Text, most: int | None = None) -> None:
    """Print a drawing, in colour if the output has colours.

    A board wider than the terminal, or than `most` characters, would be broken: a sentence replaces
    it. The list below it, after an empty line, is printed all the same.
    """
    if most is None and sys.stdout.isatty():
        most = shutil.get_terminal_size().columns
    if most is not None:
        drawing = _fitted(drawing, most)
    if coloured(sys.stdout):
        console().print(drawing, soft_wrap=True)
    else:
        print(drawing.plain)


def _fitted(drawing: Text, most: int) -> Text:
    from rich.text import Text

    board = drawing.plain.partition("\n\n")[0]
    widest = max(Text(line).cell_len for line in board.split("\n"))
    if widest <= most:
        return drawing
    said = f"(a board of {widest} columns is not drawn in {most}; --svg FILE draws it)"
    return Text(said).append_text(drawing[len(board) :])


def sentence_of(clause: str) -> str:
    """Turn a clause into a sentence: with a capital letter and a full stop."""
    return f"{clause[0].upper()}{clause[1:]}."


def note(text: str) -> None:
    """Print a line for people to standard error: progress, warnings, errors."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """Print an error as one line to standard error."""
    said = " ".join(text.split())
    if not coloured(sys.stderr):
        note(f"nightgrid: {said}")
        return
    from rich.text import Text

    sys.stdout.flush()
    line = Text.assemble(("nightgrid:", "bold red"), " ", said)
    console(sys.stderr).print(line, soft_wrap=True)


def warn_of_poison(game: str, number: int) -> None:
    """Warn on standard error, before a report, of puzzles without an answer."""
    puzzles = "1 puzzle has" if number == 1 else f"{number:,} puzzles have"
    complain(
        f"{game}: {puzzles} NO ANSWER (poison): the workers that took them died or failed. After "
        "fixing the cause, use the same command with --retry poison"
    )


def say_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str | None = None,
    numbers: Sequence[str] = (),
    whole: int = 0,
) -> None:
    """Print a table to standard output.

    Columns in `numbers` are right-aligned, and cells of the first `whole` ones are not wrapped if
    there is room.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for i, heading in enumerate(headings):
        justify = "right" if heading in numbers else "left"
        table.add_column(heading, justify=justify, overflow="fold", no_wrap=i < whole)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def say_figures(rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table of figures, each after its label."""
    say_table(("what", "figure"), rows, title=title, numbers=("figure",))


def duration(ns: int) -> str:
    """Format a duration for people: 850 ns, 1.20 ms, 3.4 s."""
    if ns < 1_000:
        return f"{ns} ns"
    if ns < 1_000_000:
        return f"{ns / 1_000:.3g} µs"
    if ns < 1_000_000_000:
        return f"{ns / 1_000_000:.3g} ms"
    return f"{ns / 1_000_000_000:,.1f} s"
