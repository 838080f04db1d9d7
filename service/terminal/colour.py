"""Whether a stream gets colours, and the console of rich that writes to it.

NO_COLOR and FORCE_COLOR of the environment decide, neither of which counts when it is empty; else
colours go to terminals alone.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH_CHARS = 100
"""Tables are laid out for this width when the output is no terminal."""

KNOW_256_COLOURS = ("xterm", "screen", "tmux")
"""Names of terminals that know more colours than their name says: containers say xterm."""


def coloured(stream: TextIO) -> bool:
    """Return whether a stream gets colours."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def console(stream: TextIO | None = None) -> Console:
    """Make the console of rich for a stream, standard output unless told otherwise.

    One without colours writes no escape codes but those that move the cursor of a terminal.
    """
    from rich.console import Console

    stream = stream or sys.stdout
    terminal, wanted = stream.isatty(), coloured(stream)

    def make(system: str | None) -> Console:
        return Console(
            file=stream,
            force_terminal=terminal or wanted,
            color_system=system,  # type: ignore[arg-type]
            no_color=not wanted,
            highlight=False,
            width=None if terminal else PIPED_WIDTH_CHARS,
        )

    made = make("auto" if wanted else None)
    if not wanted or made.color_system not in (None, "standard"):
        return made
    # Grounds of 16 colours are all white. A terminal that is said to know none gets 16, for a
    # person who wants them all the same.
    return make("256" if os.environ.get("TERM") in KNOW_256_COLOURS else "standard")
