"""A solution of Strands: which words are on which cells, with paths that do not cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.strands.puzzle import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One word of a cover. Its path is one of the possible paths on its cells."""

    word: str
    """The letters as on the board, without spaces."""
    path: tuple[Cell, ...]
    """The cells in the order of the letters."""
    components: tuple[str, ...]
    """The words that it is joined from; the word itself if it is one."""

    @property
    def cells(self) -> frozenset[Cell]:
        """Its cells, which identify the entry, whatever its path."""
        return frozenset(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """One solution: a spangram, and theme words in the order of their first cells.

    Two covers with the same words on the same cells are the same solution.
    """

    spangram: Entry | None
    """None under the rule spangram=off."""
    theme_words: tuple[Entry, ...]
    """Sorted by their smallest cell (row, then column)."""
    score: int
    """Sum over all entries; higher is better. Hundredths of a decade of probability under the
    default scoring."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The spangram, if there is one, and the theme words."""
        return (() if self.spangram is None else (self.spangram,)) + self.theme_words

    @property
    def identity(self) -> frozenset[tuple[str, frozenset[Cell]]]:
        """The identity of a cover: its set of (word, cells)."""
        return frozenset((entry.word, entry.cells) for entry in self.entries)


def cover_to_json(cover: Cover) -> dict[str, Any]:
    """Return a cover as {"spangram": entry or null, "theme_words": [entry, ...], "score"}."""
    return {
        "spangram": None if cover.spangram is None else _entry_to_json(cover.spangram),
        "theme_words": [_entry_to_json(entry) for entry in cover.theme_words],
        "score": cover.score,
    }


def cover_from_json(value: Any) -> Cover:
    """Parse a cover as returned by `cover_to_json`."""
    spangram = value["spangram"]
    return Cover(
        spangram=None if spangram is None else _entry_from_json(spangram),
        theme_words=tuple(_entry_from_json(entry) for entry in value["theme_words"]),
        score=value["score"],
    )


def _entry_to_json(entry: Entry) -> dict[str, Any]:
    value: dict[str, Any] = {"word": entry.word, "path": [list(cell) for cell in entry.path]}
    if entry.components != (entry.word,):
        value["parts"] = list(entry.components)
    return value


def _entry_from_json(value: Any) -> Entry:
    return Entry(
        word=value["word"],
        path=tuple((r, c) for r, c in value["path"]),
        components=tuple(value.get("parts", (value["word"],))),
    )
