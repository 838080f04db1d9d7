"""Games are known by their plugs alone: above `solvers` only a game's own modules name it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightgrid.solvers.registry import GAMES, game_plug
from tests.service.scenes import environment

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("archive", "workers", "flows", "service")
NAMED = {
    game: re.compile(rf"(?<![a-z])({'|'.join((game, title.replace(' ', '[ _-]')))})(?![a-z])")
    for game, title in ((game, game_plug(game).title.lower()) for game in GAMES)
}
"""Finds a game, by its name or its title, as a word of its own."""
HELP = frozenset({"help", "metavar", "epilog", "examples", "json_schema_extra"})
"""Arguments of options, commands and models whose texts tell people about games by example."""
ALLOWED = {
    # Every command with an example of its use.
    "service/cli/commands.py": "COMMANDS",
}
"""The one name of a module whose value may name games: texts for people."""


def modules() -> list[Path]:
    return sorted(path for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))


def owners(path: Path) -> set[str]:
    """The games that a module belongs to: those that its own path names."""
    words = re.split(r"[/_.]", path.relative_to(ROOT).as_posix())
    return set(GAMES) & set(words)


def named_in(text: str) -> set[str]:
    """The games that an identifier or a text names, each as a word of its own."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()
    return {game for game, named in NAMED.items() if named.search(words)}


def texts(tree: ast.AST, allowed: str | None) -> Iterator[tuple[int, str]]:
    """Every identifier and string of a module that is code, neither docstring nor help."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # A docstring, or what documents the name before it.
        if isinstance(node, ast.keyword) and node.arg in HELP:
            continue
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if allowed and allowed in [getattr(target, "id", None) for target in targets]:
            continue
        line = getattr(node, "lineno", 0)
        for name in ("id", "attr", "arg", "name", "asname", "module"):
            value = getattr(node, name, None)
            if isinstance(value, str):
                yield line, value
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield line, node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        yield from texts(node, allowed)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_modules_of_a_game_name_it(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    found = {
        f"{name}:{line}: {text[:60]!r} names {game}"
        for line, text in texts(ast.parse(path.read_text()), ALLOWED.get(name))
        for game in named_in(text) - owners(path)
    }
    assert found == set(), "move it to the game's plug"


def test_what_names_a_game_is_found() -> None:
    code = (
        '"""Pips."""\nPIPS_MAX = 1\nx = {"strands": 2}\n'
        "from nightgrid.solvers.tiles import y\nLetterBoxed()"
    )
    found = [named_in(text) for _, text in texts(ast.parse(code), None)]
    assert [games for games in found if games] == [
        {"pips"}, {"strands"}, {"tiles"}, {"letterboxed"},
    ]  # fmt: skip


def test_loading_every_plug_loads_no_kernel_and_no_arrow() -> None:
    code = (
        "import sys; from nightgrid.solvers.registry import GAMES;"
        "from nightgrid.archive.games import archive_plug;"
        "from nightgrid.service.games import ALL; [archive_plug(game) for game in GAMES];"
        "print([m for m in ('numba', 'pyarrow', 'celery', 'rich') if m in sys.modules], len(ALL))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split(maxsplit=1)[0] == "[]"
    assert done.stdout.split()[1] == str(len(GAMES))


def test_every_file_of_the_fifth_game_is_explained() -> None:
    page = (ROOT / "docs/how-to/add-a-game.md").read_text()
    listed = set(re.findall(r"^\| `(coins/\w+\.py)` \|", page, re.MULTILINE))
    folder = ROOT / "tests" / "fifth_game"
    files = {path.relative_to(folder).as_posix() for path in folder.glob("coins/*.py")}
    assert listed == files - {"coins/__init__.py"}
