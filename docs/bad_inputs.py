"""Inputs that are wrong: each with its exit code and the whole sentence that is said.

`bad-inputs.json` beside this module is the table; the tests run every row, and `make docs` writes
docs/reference/bad-inputs.md from it. A row has `words` (what is typed after `nightgrid`), `env`,
`code` and `says`; FOLDER stands for the folder that it is run in, which holds FILES.
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
    "list.json": "[1, 2]",
    "pips.json": '{"dominoes": [[0, 0]], "regions": [{"indices": [[0, 0], [0, 1]], "type": "no"}]}',
    "odd.json": '{"dominoes": [[0, 0]], "regions": [{"indices": [[0, 0]], "type": "empty"}]}',
    "strands.json": '{"board": ["AB", "C"]}',
    "tiles.json": '{"tiles": [["a"], "b"]}',
    "negative.txt": "word -5\n",
    "nothing.txt": "# nothing\n",
    "misspelt.toml": 'lakes = "lake"\n',
    "typed.toml": 'batch_processes = "4"\n',
    "broken.toml": "lake =\n",
}


def rows() -> list[dict[str, Any]]:
    """Read the table."""
    found: list[dict[str, Any]] = json.loads(TABLE.read_text())
    return found


def markdown() -> str:
    """Write the table for people."""
    lines = ["| input | exit code | sentence |", "|---|---|---|"]
    for row in rows():
        env = "".join(f"{name}={value} " for name, value in row["env"].items())
        typed = f"{env}nightgrid {' '.join(w or repr(w) for w in row['words'])}"
        cells = (f"`{typed}`", str(row["code"]), row["says"].removeprefix("nightgrid: "))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])
