"""The kinds of failure: what is tried again, what is refused here, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")
FAULTS_MAX = 100
"""Faults of one input that are told at once."""


class NightgridError(Exception):
    """A failure with one sentence for the person who caused or has to mend it."""


class TransientError(NightgridError):
    """Something outside that may work the next time: a broker, a disk, a server. Retried."""


class RefusalError(TransientError):
    """What surrounds a process keeps it from working: a version, a lake, missing words.

    It says nothing about a puzzle and counts against none: another process may work, or this one
    when its surroundings are mended.
    """


class PermanentError(NightgridError):
    """Something that will fail the same way every time. Recorded, never retried."""


class InvalidPuzzleError(PermanentError):
    """A puzzle that breaks a rule of its game, with the rule and the place that breaks it.

    `rule` is a stable kebab-case name ("region-overlap"), `place` a path into the input
    ("regions[3].indices[1]"), and the message says what was found and what was expected.
    """

    def __init__(self, rule: str, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.rule = rule
        self.place = place
        self.detail = message
        self.others: tuple[InvalidPuzzleError, ...] = ()
        """What is wrong beside it and does not follow from it, in the order of the input."""

    def __reduce__(
        self,
    ) -> tuple[type[InvalidPuzzleError], tuple[str, str, str], dict[str, Any]]:
        """Let it be raised again in another process: its text alone does not make it."""
        return type(self), (self.rule, self.place, self.detail), {"others": self.others}


class Faults:
    """Gathers what is wrong with parts of an input that can be told apart, to raise it as one.

    As a context manager it takes note of an InvalidPuzzleError that its block raises.
    """

    def __init__(self) -> None:
        self.found: list[InvalidPuzzleError] = []

    def add(self, error: InvalidPuzzleError) -> None:
        """Take note of a fault; raise all of them once there are FAULTS_MAX."""
        self.found += (error, *error.others)
        if len(self.found) >= FAULTS_MAX:
            self.check()

    def each(
        self, items: Iterable[tuple[str, object]], read: Callable[[object, str], T]
    ) -> list[T | None]:
        """Read items, each with its place; None stands for one that is wrong."""
        values: list[T | None] = []
        for at, item in items:
            try:
                values.append(read(item, at))
            except InvalidPuzzleError as error:
                self.add(error)
                values.append(None)
        return values

    def check(self) -> None:
        """Raise the first fault, if there is one, with the others beside it."""
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
    """A rule of a game that has a value it cannot have.

    `rule` is the rule's name in the one-line form of the rules, and `fault` says what its value is
    and what was expected: "is 0; expected 1 to 64".
    """

    def __init__(self, rule: str, fault: str) -> None:
        super().__init__(f"rule {rule} {fault}")
        self.rule = rule
        self.fault = fault

    def __reduce__(self) -> tuple[type[RuleError], tuple[str, str]]:
        """Let it be raised again in another process: its text alone does not make it."""
        return type(self), (self.rule, self.fault)


def place_of(place: str, key: str) -> str:
    """Name the place of a key in the value at a place; "" is the whole document."""
    return f"{place}.{key}" if place else key


def check_object(value: object, place: str) -> Mapping[str, Any]:
    """Return a puzzle's JSON object; raise InvalidPuzzleError where it is none."""
    if not isinstance(value, Mapping):
        raise InvalidPuzzleError(
            "puzzle-type", place, f"expected an object, got {json_kind(value)}"
        )
    return value


def json_kind(value: object) -> str:
    """Describe what kind of JSON value something is, in the words of messages."""
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")
