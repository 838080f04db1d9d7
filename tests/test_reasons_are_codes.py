"""No program reads a sentence: the source compares, searches and matches codes, never reasons."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = ("archive", "flows", "service", "solvers", "workers")
NAMES = frozenset({"reason", "reasons", "sentence", "message", "fault_message", "detail"})
TEXTS = NAMES | {"fault"}
"""Names (a `fault` is no text), attributes, keys and columns that hold what is said to people."""
METHODS = frozenset(
    {
        *("startswith", "endswith", "partition", "rpartition", "split", "rsplit", "splitlines"),
        *("find", "rfind", "index", "rindex", "count", "replace", "removeprefix", "removesuffix"),
        *("match", "search", "fullmatch", "findall", "finditer", "sub"),
        *("equal", "not_equal", "is_in", "match_substring", "starts_with", "find_substring"),
    }
)
"""Ways to look into a text: of the text itself, of `re`, and of `pyarrow.compute`."""
ALLOWED = {
    "archive/lake/faults.py:storage_errors": "storages name some of their errors in the text alone",
    "archive/lake/objects/errors.py:os_errors": "obstore has HTTP's answers in the text alone",
    "archive/lake/objects/store.py:listing": "obstore says what is no listing in the text alone",
    "archive/views/sql.py:_query_errors": "of streams DuckDB gives Arrow its errors as texts",
    "flows/maintenance/repair.py": "a finding's fault is one of a few words beside its sentence",
    "workers/celery_worker/tasks.py:_how": "billiard tells of signals in the text alone",
}
"""Places that may, by module and function, and why."""


class _Looks(ast.NodeVisitor):
    """Collects where a text for people is looked into. Follows names within a function only."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self._functions: list[str] = []
        self._tainted: set[str] = set()
        self._errors: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outside = self._tainted, self._errors
        errors = {
            argument.arg
            for argument in (*node.args.args, *node.args.kwonlyargs)
            if "Exception" in ast.unparse(argument.annotation or ast.Constant(""))
            or "Error" in ast.unparse(argument.annotation or ast.Constant(""))
        }
        self._tainted, self._errors = set(outside[0]), outside[1] | errors
        self._functions.append(node.name)
        self.generic_visit(node)
        self._functions.pop()
        self._tainted, self._errors = outside

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        outside = set(self._errors)
        self._errors |= {node.name} if node.name else set()
        self.generic_visit(node)
        self._errors = outside

    def visit_Assign(self, node: ast.Assign) -> None:
        if self._is_text(node.value):
            self._tainted |= {name.id for name in node.targets if isinstance(name, ast.Name)}
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        if any(map(self._is_text, operands)) and not isinstance(node.ops[0], ast.Is | ast.IsNot):
            self._note(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        func = node.func
        if (
            isinstance(func, ast.Attribute)
            and func.attr in METHODS
            and any(map(self._is_text, (func.value, *node.args)))
        ):
            self._note(node)
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        if self._is_text(node.subject):
            self._note(node.subject)
        self.generic_visit(node)

    def _note(self, node: ast.expr) -> None:
        self.found.append((node.lineno, self._functions[0] if self._functions else ""))

    def _is_text(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in NAMES or name in self._tainted
            case ast.Attribute(attr=name):
                return name in TEXTS
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                return name in TEXTS
            case ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id=name)]):
                return name in self._errors
            case ast.Call(func=ast.Attribute(attr="get" | "column"), args=[ast.Constant(), *_]):
                return isinstance(node.args[0], ast.Constant) and node.args[0].value in TEXTS
            case ast.Call(func=ast.Attribute(value=value, attr="lower" | "strip" | "casefold")):
                return self._is_text(value)
            case ast.JoinedStr(values=values):
                parts = [part.value for part in values if isinstance(part, ast.FormattedValue)]
                return any(isinstance(part, ast.Name) and part.id in self._errors for part in parts)
        return False


def looks_into_texts(source: str) -> list[tuple[int, str]]:
    """List the lines and functions in which a text for people is looked into."""
    visitor = _Looks()
    visitor.visit(ast.parse(source))
    return visitor.found


@cache
def _places() -> tuple[tuple[str, str, int], ...]:
    paths = [path for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py"))]
    return tuple(
        (path.relative_to(ROOT).as_posix(), function, line)
        for path in paths
        for line, function in looks_into_texts(path.read_text(encoding="utf-8"))
    )


def test_no_program_looks_into_what_is_said_to_people() -> None:
    found = [
        f"{module}:{line}"
        for module, function, line in _places()
        if module not in ALLOWED and f"{module}:{function}" not in ALLOWED
    ]
    assert found == []


def test_every_exception_is_needed() -> None:
    places = _places()
    needed = {module for module, _, _ in places} | {f"{m}:{name}" for m, name, _ in places}
    assert set(ALLOWED) <= needed


@pytest.mark.parametrize(
    "source",
    [
        'if "budget" in outcome.reason: pass',
        "if row['reason'] == DEFERRED: pass",
        "if reason != REASONS[4]: pass",
        "outcome.reason.partition(';')",
        "_BETWEEN.match(outcome.reason)",
        "pc.equal(table.column('reason'), 'x')",
        "try:\n    g()\nexcept OSError as error:\n    found = 'x' in str(error)",
        "try:\n    g()\nexcept E as error:\n    text = str(error)\n    text.replace('a', 'b')",
        "def f(error: Exception) -> bool: return 'x' in str(error)",
        "match row.get('reason'):\n    case 'a': pass",
        "if outcome.reason.strip().lower() == 'x': pass",
    ],
)
def test_looking_into_a_text_is_seen(source: str) -> None:
    assert looks_into_texts(source)


@pytest.mark.parametrize(
    "source",
    [
        "if outcome.reason_code is ReasonCode.NODES: pass",
        "if row['reason_code'] == ReasonCode.DEFERRED: pass",
        "row['reason'] = outcome.reason",
        "if outcome.reason: say(outcome.reason)",
        "if reason is not None: pass",
        "'x' in str(number)",
    ],
)
def test_codes_and_saying_are_left_alone(source: str) -> None:
    assert not looks_into_texts(source)
