"""The switchable rules of a game, and their one-line form: name=value, separated by spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Self

from nightgrid.solvers.errors import PermanentError, RuleError


class RuleLine:
    """Base of the rules of a game: a frozen dataclass with a field for each rule.

    The default of a field determines the format of its values: yes or no, a whole number, or a
    word.
    """

    __slots__ = ()

    def __str__(self) -> str:
        normal = self.normal()
        values = {f.name: getattr(normal, f.name) for f in fields(normal)}  # type: ignore[arg-type]
        return " ".join(f"{name}={_text(value)}" for name, value in values.items())

    def normal(self) -> Self:
        """Reset settings that others make irrelevant to their defaults."""
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse rules as formatted by `str(rules)`; missing ones get their default.

        Raises PermanentError on an unknown name or value.
        """
        known = {f.name: f.default for f in fields(cls)}  # type: ignore[arg-type]
        values = _read_line(text, list(known))
        return cls(**{name: _value(name, value, known[name]) for name, value in values.items()})

    def check_word(self, name: str, *allowed: str) -> None:
        """Raise RuleError unless a rule is one of some words."""
        value = getattr(self, name)
        if value not in allowed:
            expected = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
            raise RuleError(name, f"is {value!r}; expected {expected}")

    def check_number(self, name: str, least: int, most: int) -> None:
        """Raise RuleError unless a rule is a number within bounds."""
        value = getattr(self, name)
        if not least <= value <= most:
            raise RuleError(name, f"is {value}; expected {least} to {most}")


def _read_line(text: str, names: Sequence[str]) -> dict[str, str]:
    """Split a line into the values of its rules, by name, without missing ones.

    Raises PermanentError for a name that is not among `names`, or occurs twice.
    """
    values: dict[str, str] = {}
    for item in text.split():
        name, _, value = item.partition("=")
        if name not in names or name in values:
            each = "each of " if len(names) > 1 else ""
            raise PermanentError(
                f"rule {item!r}: expected {each}{', '.join(names)} once, as name=value"
            )
        values[name] = value
    return values


def _text(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _value(name: str, text: str, default: object) -> Any:
    if isinstance(default, bool):
        if text not in ("yes", "no"):
            raise RuleError(name, f"is {text!r}; expected yes or no")
        return text == "yes"
    if isinstance(default, int):
        if not text.isdecimal() or len(text) > 9:
            raise RuleError(name, f"is {text!r}; expected a whole number")
        return int(text)
    return text
