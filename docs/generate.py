"""Write the parts of the pages that the source knows better than a person: `make docs`.

The tree of docs/architecture.md comes from the first sentence of every module, the settings of
docs/operations.md from `nightgrid.workers.settings`. A test fails when a page is behind.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from nightgrid.workers.settings import Settings

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FLOORS = ("service", "flows", "workers", "archive", "solvers")
SETTINGS_SOURCE = ROOT / "workers" / "settings.py"
BEGIN, END = "<!-- begin: written by `make docs` -->\n", "<!-- end -->\n"


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


def settings() -> str:
    """List every setting with its default and what it means."""
    classes = ast.parse(SETTINGS_SOURCE.read_text()).body
    body = next(node for node in classes if getattr(node, "name", "") == "Settings").body
    rows: list[str] = []
    undescribed: list[str] = []
    for node in body[1:]:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            undescribed.append(node.target.id)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and undescribed:
            # A text under several settings describes them together.
            texts = [" ".join(str(node.value.value).split()), *['"'] * (len(undescribed) - 1)]
            rows += [
                f"| `NIGHTGRID_{name.upper()}` | {_default(name)} | {text} |"
                for name, text in zip(undescribed, texts, strict=True)
            ]
            undescribed = []
        elif isinstance(node, ast.FunctionDef):
            break
    rows += [f"| `NIGHTGRID_{name.upper()}` | {_default(name)} | |" for name in undescribed]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows, ""])


def _default(name: str) -> str:
    default = Settings.model_fields[name].default
    if name == "batch_processes":
        return "one a core"
    return "" if default is None else f"`{default}`"


PAGES = {DOCS / "architecture.md": tree, DOCS / "operations.md": settings}


def page(path: Path) -> str:
    """Make a page anew."""
    head, rest = path.read_text().split(BEGIN, 1)
    return f"{head}{BEGIN}\n{PAGES[path]()}\n{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(page(path))
