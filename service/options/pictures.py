"""The option --svg: reject several pictures and unwritable files, and write the file."""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from nightgrid.service.options.reading import ReadItem

SVG_TYPE = "image/svg+xml"
SvgFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a picture of the board, as SVG. It takes one puzzle: see --level.",
    ),
]


def one_picture(sources: Iterator[ReadItem], svg: Path | None) -> Iterable[ReadItem]:
    """Reject a second puzzle if there is one file for a picture.

    Rejects it before anything is done.
    """
    from nightgrid.archive.payloads.published import Published

    if svg is None:
        return sources
    found = list(sources)
    if sum(isinstance(each.item, Published) for each in found) > 1:
        raise PermanentError(
            f"--svg {svg} takes one puzzle and there are more; name one file, and with --level one "
            "of its puzzles"
        )
    return found


def check_picture(path: Path | None) -> None:
    """Raise PermanentError for an unwritable file, or one named like another format.

    None means no picture.
    """
    if path is None:
        return
    kind, _ = mimetypes.guess_type(path.name)
    if kind not in (None, SVG_TYPE):
        expected = "expected a name that ends with .svg"
        raise PermanentError(f"--svg {path}: pictures are SVG, not {kind}; {expected}")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermanentError(f"--svg {path} is not a writable file")


def write_file(path: Path, text: str, option: str) -> None:
    """Write the file of an option. Raises PermanentError if that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PermanentError(f"{option} {path}: {error.strerror or error}") from error
