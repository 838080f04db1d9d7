"""Kinds of failure: retried, refused by this process, or recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")
FAULTS_MAX = 100
"""Most faults of one input that are reported together."""


class NightgridError(Exception):
    """A failure described in one sentence for the person who can fix it."""


class TransientError(NightgridError):
    """A failure outside that may not repeat: a broker, a disk, a server. Retried."""


class RefusalError(TransientError):
    """The environment of a process prevents its work: a version, a lake, missing words.

    It says nothing about a puzzle and does not count as an attempt: another process may do the
    work, or this one once its environment is fixed.
    """


class PermanentError(NightgridError):
    """A failure that will repeat every time. Recorded, never retried."""


class IllegalMoveError(PermanentError):
    """A move that the game does not allow where it is made; `at` is its index among the moves."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at

    def __reduce__(self) -> tuple[type[IllegalMoveError], tuple[int, str]]:
        """Let it be raised again in another process."""
        return type(self), (self.at, str(self))


class InvalidPuzzleError(PermanentError):
    """A puzzle that breaks a rule of its game, with the rule and the place."""

    def __init__(self, rule: str, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.rule = rule
        self.place = place
        self.detail = message
        self.others: tuple[InvalidPuzzleError, ...] = ()
        """Further independent faults, in the order of the input."""

    def __reduce__(
        self,
    ) -> tuple[type[InvalidPuzzleError], tuple[str, str, str], dict[str, Any]]:
        """Support pickling, which the message alone does not."""
        return type(self), (self.rule, self.place, self.detail), {"others": self.others}


class Faults:
    """Collects independent faults of an input, to raise them as one error.

    As a context manager it records an InvalidPuzzleError raised in its block.
    """

    def __init__(self) -> None:
        self.found: list[InvalidPuzzleError] = []

    def add(self, error: InvalidPuzzleError) -> None:
        """Record a fault; raise all of them once there are FAULTS_MAX."""
        self.found += (error, *error.others)
        if len(self.found) >= FAULTS_MAX:
            self.check()

    def each(
        self, items: Iterable[tuple[str, object]], read: Callable[[object, str], T]
    ) -> list[T | None]:
        """Parse items, each with its place; None replaces an invalid one."""
        values: list[T | None] = []
        for at, item in items:
            try:
                values.append(read(item, at))
            except InvalidPuzzleError as error:
                self.add(error)
                values.append(None)
        return values

    def check(self) -> None:
        """Raise the first fault, if there is one, with the others attached."""
        if self.found:
            first, *others = self.found[:FAULTS_MAX]
            first.others = tuple(others)
            raise first

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if isinstance(error, InvalidPuzzleError) and error not in self.found:
            self.add(error)
            return True
        return False


class RuleError(PermanentError):
    """A rule of a game with an invalid value."""

    def __init__(self, rule: str, fault: str) -> None:
        super().__init__(f"rule {rule} {fault}")
        self.rule = rule
        self.fault = fault

    def __reduce__(self) -> tuple[type[RuleError], tuple[str, str]]:
        """Support pickling, which the message alone does not."""
        return type(self), (self.rule, self.fault)


def place_of(place: str, key: str) -> str:
    """Return the place of a key in the value at a place; "" is the whole document."""
    return f"{place}.{key}" if place else key


def check_object(value: object, place: str) -> Mapping[str, Any]:
    """Return a puzzle's JSON object; raise InvalidPuzzleError if it is not one."""
    if not isinstance(value, Mapping):
        raise InvalidPuzzleError(
            "puzzle-type", place, f"expected an object, got {json_kind(value)}"
        )
    return value


def json_kind(value: object) -> str:
    """Return the kind of a JSON value, as messages name it."""
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")
