"""How large a request may be before anything of it is queued: its body, its board, its words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nightgrid.service.http.problems import FieldError, Problem
from nightgrid.solvers.algebra import Ask, Expected
from nightgrid.solvers.game_contract import Game
from nightgrid.workers.driver.progress import clock_time

if TYPE_CHECKING:
    from nightgrid.workers.settings import Settings

_SIZE = "size"
"""The column of boards that says how large one is, in what its game counts."""
BIG_S = 10_000_000.0
"""Beyond so many seconds the exact number says nothing more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one request. Sizes in bytes, times in seconds."""

    body_bytes: int = 1024**2
    depth: int = 32
    """How deep JSON may be nested: boards need less than ten levels."""
    size: int = 2048
    """Largest board: dominoes of Pips, cells of Strands, letters of Letter Boxed, or tiles."""
    words_bytes: int = 512 * 1024
    """Largest word list of a request, its words with one byte after each."""
    expected_s: float = 4 * 3600.0
    """What a board may be expected to take one core."""

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """Take them from the settings."""
        return cls(
            body_bytes=settings.http_body_bytes,
            size=settings.http_board_size,
            words_bytes=settings.http_words_bytes,
            expected_s=settings.http_expected_seconds,
        )

    def check_words(self, words: list[str]) -> None:
        """Raise Problem for a word list that is too large."""
        size = sum(len(word.encode("utf-8", "replace")) + 1 for word in words)
        if size > self.words_bytes:
            detail = f"the words take {size:,} bytes; expected at most {self.words_bytes:,}"
            raise _too_large("/words", detail)

    def check_board(self, game: Game[Any, Any], puzzle: Any, ask: Ask, pointer: str) -> Expected:
        """Raise Problem for a board that is too large, or expected to take too long.

        `pointer` says where the board stands in the request. Returns what its game expects it
        to take.
        """
        arrays = game.to_arrays([puzzle])
        size = int(arrays[_SIZE][0])
        if size > self.size:
            detail = f"the board's size is {size:,}; expected at most {self.size:,}"
            raise _too_large(pointer, detail)
        expected = game.expected(arrays, ask)
        expected_s = min(max(expected.seconds, 0.0), BIG_S)
        if expected_s > self.expected_s:
            detail = (
                f"the board would take about {clock_time(expected_s)} of one core; expected at "
                f"most {clock_time(self.expected_s)}"
            )
            raise _too_large(pointer, detail, "too-long")
        return replace(expected, seconds=expected_s)


def _too_large(pointer: str, detail: str, slug: str = "board-too-large") -> Problem:
    return Problem(slug, detail, errors=[FieldError(pointer=pointer, detail=detail)])
