"""Invalid inputs, each with its exit code and the whole error message.

`bad-inputs.json` next to this module is the table; a test runs every row. A row has `words` (the
arguments of `nightgrid`), `env`, `code` and `says`; `told` if lines of progress come before, and
`prints` if --json writes objects. FOLDER stands for the working folder, which holds FILES, and LAKE
for a lake of the Pips boards of one date and of a corpus.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("bad-inputs.json")
FILES = {
    "file": "",
    "empty.json": "",
    "text.json": "hello",
    "bom.json": '\ufeff{"dominoes": [], "regions": []}',
    "list.json": "[1, 2]",
    "pips.json": '{"dominoes": [[0, 0]], "regions": [{"indices": [[0, 0], [0, 1]], "type": "no"}]}',
    "odd.json": '{"dominoes": [[0, 0]], "regions": [{"indices": [[0, 0]], "type": "empty"}]}',
    "strands.json": '{"board": ["AB", "C"]}',
    "digit.json": '{"board": ["AB", "C5"]}',
    "tiles.json": '{"tiles": [["a"], "b"]}',
    "negative.txt": "word -5\n",
    "nothing.txt": "# nothing\n",
    "misspelt.toml": 'lakes = "lake"\n',
    "typed.toml": 'batch_processes = "four"\n',
    "broken.toml": "lake =\n",
    "listed.toml": 'games = ["pips"]\n',
    "range.toml": "batch_processes = 0\n",
    "games.toml": 'games = "chess"\n',
    "table.toml": '[worker]\nlake = "lake"\n',
}


def rows() -> list[dict[str, Any]]:
    """Read the table."""
    found: list[dict[str, Any]] = json.loads(TABLE.read_text())
    return found
