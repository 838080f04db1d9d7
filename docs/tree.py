"""Write the tree of docs/architecture.md from the first sentence of every module: `make docs`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
FLOORS = ("service", "flows", "workers", "archive", "solvers")
BEGIN, END = "<!-- tree: written by `make docs` -->\n", "<!-- end of tree -->\n"


def first_sentence(path: Path) -> str:
    """Read what a module says it is for."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    text = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=[a-z0-9)`\"'])\.(?= |$)", text, maxsplit=1)[0]


def tree() -> str:
    """List every folder from the top floor down, every module with its sentence."""
    lines = []
    for floor in FLOORS:
        folders = sorted({path.parent for path in (ROOT / floor).rglob("*.py")})
        for folder in folders:
            lines += [f"### `{folder.relative_to(ROOT).as_posix()}/`", "", "```text"]
            lines += [
                f"{path.name:<16} {first_sentence(path)}"
                for path in sorted(folder.glob("*.py"), key=lambda p: (p.stem != "__init__", p))
                if path.stat().st_size
            ]
            lines += ["```", ""]
    return "\n".join(lines)


def page(text: str) -> str:
    """Put the tree in its place on a page."""
    head, rest = text.split(BEGIN, 1)
    return f"{head}{BEGIN}\n{tree()}\n{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
