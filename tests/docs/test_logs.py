"""docs/reference/logs.md lists the events that the source writes, with their levels."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("archive", "flows", "service", "solvers", "workers")
LEVELS = ("info", "warning", "error")
Told = tuple[set[str], set[str]]


def written() -> dict[str, Told]:
    """Collect the events of the source: their levels and loggers."""
    found: dict[str, Told] = {}
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        text = path.read_text()
        if "get_logger(" not in text:
            continue
        tree = ast.parse(text)
        named = [
            ast.literal_eval(node.args[0])
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "get_logger" and node.args
        ]
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if ast.unparse(node.func.value) != "log" or node.func.attr not in LEVELS or not named:
                continue
            levels, loggers = found.setdefault(ast.literal_eval(node.args[0]), (set(), set()))
            levels.add(node.func.attr)
            loggers.update(named)
    return found


def documented() -> dict[str, Told]:
    page = (ROOT / "docs/reference/logs.md").read_text().partition("## Events")[2]
    rows = re.findall(r"^\| `(.+?)` \| (\w+) \| (.+?) \| .+\|$", page, re.MULTILINE)
    return {
        event: ({level}, set(re.findall(r"`(.+?)`", loggers))) for event, level, loggers in rows
    }


def test_every_event_is_documented_as_it_is_written():
    assert documented() == written()


def test_events_are_listed_in_order():
    assert list(documented()) == sorted(documented())
