"""Decide whether a stream gets colours, and create rich's console for it.

NO_COLOR and FORCE_COLOR decide if not empty; otherwise only terminals get colours.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH_CHARS = 100
"""Width of tables if the output is not a terminal."""


def coloured(stream: TextIO) -> bool:
    """Return whether a stream gets colours."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _colours() -> Literal["truecolor", "256"]:
    """Return the colour system: rich assumes 16 colours for many terminals with 256."""
    return "truecolor" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256"


def console(stream: TextIO | None = None) -> Console:
    """Create rich's console for a stream, by default standard output.

    Without colours it only writes escape codes that move the cursor of a terminal.
    """
    from rich.console import Console

    stream = stream or sys.stdout
    terminal, wanted = stream.isatty(), coloured(stream)
    return Console(
        file=stream,
        force_terminal=terminal or wanted,
        color_system=_colours() if wanted else None,
        no_color=not wanted,
        highlight=False,
        width=None if terminal else PIPED_WIDTH_CHARS,
    )
