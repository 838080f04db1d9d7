"""Whether a stream gets colours, and the console of rich that writes to it.

NO_COLOR and FORCE_COLOR of the environment decide, neither of which counts when it is empty; else
colours go to terminals alone.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH_CHARS = 100
"""Tables are laid out for this width when the output is no terminal."""


def coloured(stream: TextIO) -> bool:
    """Return whether a stream gets colours."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _colours() -> Literal["truecolor", "256"]:
    """Return how many colours there are: rich takes 16 for many a terminal of 256."""
    return "truecolor" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256"


def console(stream: TextIO | None = None) -> Console:
    """Make the console of rich for a stream, standard output unless told otherwise.

    One without colours writes no escape codes but those that move the cursor of a terminal.
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
