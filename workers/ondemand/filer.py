"""A process that files answers for one service, so that writing takes no time from its clients.

`python -m nightgrid.workers.ondemand.filer` reads lines of answers and the puzzles they are about,
files those of a line together, and writes for each line a text: "" when they lie in the lake, else
why not. What it has begun to file when the service ends, it files.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO, TextIO

from pydantic_core import to_json

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.ondemand.answers import Answer, put_answers
from nightgrid.workers.processes import lower_priority
from nightgrid.workers.settings import program_settings

TIME_SHARE = 0.5
"""Share of a core that filing takes while boards of clients want the core as well."""


def to_item(answer: Answer, puzzle: AskedPuzzle | None) -> bytes:
    """Write an answer that was worked whole, and its puzzle if the lake may lack that, for a line.

    Raises ValueError for a text that is no Unicode, such as half a character.
    """
    return to_json((answer.row, answer.solutions, puzzle))


def to_line(items: Sequence[bytes]) -> bytes:
    """Write answers, each as `to_item` does, as a line without its end."""
    return b"[" + b",".join(items) + b"]"


def file_line(lake: Lake, line: bytes) -> None:
    """File the answers of a line. Raises NightgridError or OSError."""
    value: list[tuple[Any, Any, Any]] = json.loads(line)
    keep_asked(lake, [AskedPuzzle(*puzzle) for _, _, puzzle in value if puzzle is not None])
    put_answers(lake, [Answer(row=row, solutions=many) for row, many, _ in value])


def serve(lake: Lake, given: BinaryIO, told: TextIO) -> None:
    """File lines until there are no more."""
    for line in given:
        why = ""
        try:
            file_line(lake, line)
        except (NightgridError, OSError) as error:
            why = str(error)
        told.write(f"{json.dumps(why)}\n")
        told.flush()


def main() -> None:
    """File what comes by standard input, as a program."""
    keep_pandas_out()
    # Ctrl-C is for the service, which closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lower_priority(TIME_SHARE)
    settings = program_settings()
    told, sys.stdout = sys.stdout, sys.stderr
    serve(Lake.open(settings.lake), sys.stdin.buffer, told)


if __name__ == "__main__":
    main()
