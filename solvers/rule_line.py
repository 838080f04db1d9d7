"""Read the one-line form of a game's rules: name=value, with spaces between them."""

from __future__ import annotations

from collections.abc import Sequence

from nightgrid.solvers.errors import PermanentError, RuleError


def read_rule_line(text: str, names: Sequence[str]) -> dict[str, str]:
    """Split a line into the values of its rules, by name; what is left out is not there.

    Raises PermanentError for a name that is not among `names`, or stands twice.
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


def whole_number(name: str, text: str) -> int:
    """Read a rule's value of at most nine digits. Raises RuleError for anything else."""
    if not text.isdecimal() or len(text) > 9:
        raise RuleError(name, f"is {text!r}; expected a whole number")
    return int(text)
