"""docs/cli.md, written from the commands' own help: `python -m nightgrid.service.cli.manual >
docs/cli.md`.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

from nightgrid.service.cli.app import COMMANDS, app
from nightgrid.service.terminal.console import Exit

WIDTH_CHARS = 100

_HEAD = """\
# The command line

Written by `python -m nightgrid.service.cli.manual > docs/cli.md` from the help of the commands
themselves; a test fails when the two differ.

Answers go to standard output and everything else to standard error. With `--json` every answer is
one JSON object a line; counts are JSON integers of up to 38 digits.

| exit code | meaning |
|---|---|
"""

_TAIL = """
## What `solve --json` writes

One object a puzzle, as one line:

| key | value |
|---|---|
| `source` | the file it stands in |
| `puzzle_id` | hash of the board; the same board under two dates is one puzzle |
| `game`, `date`, `level` | which puzzle it is; date and level are null for a bare puzzle |
| `ask` | `first`, `count`, `all`, `all(LIMIT)` or `best(K)` |
| `rules`, `lexicon_id` | the rules that were played (not of Pips), and the words by their hash; \
"" where none are played with, or a board's own |
| `status` | `solved`, `unsolvable`, `over_budget` or `invalid` |
| `count` | exact for `count` and `best`, else the number of solutions given; null if unknown |
| `value` | of the best solution: its words, letters or moves; null where nothing is compared |
| `states`, `nodes`, `kernel_ns`, `table_bytes` | what it cost |
| `engine` | of Strands and Pips: the search that took the board, `general` for the slow one |
| `solver_version` | changes whenever an answer could |
| `reason_code` | why it is over_budget or invalid, for programs ([codes](lake.md)); else null |
| `reason` | the same in one sentence |
| `truncated`, `solutions` | unless counted; a solution as below |
| `rule`, `place` | for invalid: the rule that is broken and where |

A solution of Pips is `[[cell, cell, pip, pip], ...]`. One of Strands is an object with `spangram`
(null where none is required), `theme_words` and `score`; a word is `{"word": ..., "path": [cell,
...]}`, and a spangram that is run together has its `parts`. A cell is `[row, column]`. An official
solution that `show --solution` writes has score 0, and an empty path where it is not known. One of
Letter Boxed has `words` and `letters`, where the letter that two words share counts once. One of
Tiles has `tiles`, by their places counted from 0 in the order of selection, `teleports`, which of
these selections share nothing with the one before, and `moves`.

## What a file may hold

A published payload of Pips, Strands or Letter Boxed (the object, the script that sets
`window.gameData`, or the page with it), the board of Tiles as its page holds it in memory, or one
board:

| game | keys |
|---|---|
| Pips | `dominoes` and `regions` |
| Strands | `board`, a list of rows, and `theme_words` if known; or the list by itself |
| Letter Boxed | `sides`, a list of texts, and `dictionary` if it has one |
| Tiles | `tiles`, a list of lists of features; or the page's `board`, of objects with `layers` |

The game is told by that; `--game` overrides it.
"""


def manual() -> str:
    """Write the page: exit codes, the help of every command, the JSON of `solve`."""
    codes = "".join(f"| {code.value} | {code.meaning} |\n" for code in sorted(Exit))
    parts = [f"{_HEAD}{codes}\n## nightgrid\n\n{_help()}"]
    parts += [
        f"## nightgrid {command.__name__}\n\n{_help(command.__name__)}"
        for command, _, _ in COMMANDS
    ]
    return "\n".join(parts) + _TAIL


def _help(*words: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        app([*words, "--help"], prog_name="nightgrid", standalone_mode=False)
    return f"```\n{out.getvalue().strip()}\n```\n"


if __name__ == "__main__":
    # The help is as wide as the terminal, and a page is not written for one terminal.
    os.environ["COLUMNS"] = str(WIDTH_CHARS)
    sys.stdout.write(manual())
