"""The switchable rules of Strands, and their one-line form, under which results are stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from nightgrid.solvers.rule_line import RuleLine

Spangram = Literal["required", "one", "off"]
Words = Literal["given", "any"]

COMPONENTS_MAX = 4
FEW_PARTS = 3
"""Words of spangrams that are searched first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(RuleLine):
    """Which covers count. The defaults are the game's own rules."""

    spangram: Spangram = "required"
    """`required`: at least one piece of the cover touches two opposite sides of the board with any
    of its cells. `one`: exactly one does. `off`: no condition, and pieces are single words only."""
    words: Words = "given"
    """`given`: the cover has exactly the puzzle's number of theme words, if the puzzle has one.
    Theme words are the pieces other than the spangram (with spangram off, all pieces). `any`: any
    number."""
    crossing: bool = False
    """Whether two different words may cross (both diagonals of one 2 x 2 block). A word may always
    cross itself."""
    repeats: bool = False
    """Whether a word may occur twice in a cover, on different cells."""
    diagonal: bool = True
    """Whether words may step diagonally (article 000, Corollary 19 forbids it)."""
    min_letters: int = 4
    """Fewest letters of a piece."""
    compound_parts: int = COMPONENTS_MAX
    """Most words that a spangram may consist of, 1 to COMPONENTS_MAX; 1: single words. One of more
    than FEW_PARTS counts only on boards that have no cover with fewer."""
    part_centizipf: int = 300
    """Least frequency of a part of up to three letters, in hundredths of the Zipf scale; longer
    parts may be rarer (nightgrid.solvers.strands.score). A lexicon without frequencies takes
    every word as a part."""
    compound_centibels: int = 1250
    """How improbable a compound may be: the most that its parts' costs add up to, in hundredths
    of a decade (1250: 10^-12.5)."""

    def __post_init__(self) -> None:
        self.check_word("spangram", "required", "one", "off")
        self.check_word("words", "given", "any")
        self.check_number("min_letters", 1, 64)
        self.check_number("compound_parts", 1, COMPONENTS_MAX)
        self.check_number("part_centizipf", 0, 1000)
        self.check_number("compound_centibels", 0, 10_000)

    @property
    def few(self) -> Rules | None:
        """The rules of the step before, with at most FEW_PARTS words; None if there is none."""
        if self.spangram == "off" or self.compound_parts <= FEW_PARTS:
            return None
        return replace(self, compound_parts=FEW_PARTS)

    def normal(self) -> Rules:
        """Reset settings that the others make irrelevant to their defaults.

        Rules of the same normal form allow the same covers of every board, and are written alike:
        without a spangram there are no compounds, without compounds no parts of them, and without
        diagonal steps no two words can cross.
        """
        default = type(self)()
        irrelevant: list[str] = []
        if self.spangram == "off":
            irrelevant += ["compound_parts"]
        if self.spangram == "off" or self.compound_parts == 1:
            irrelevant += ["part_centizipf", "compound_centibels"]
        if not self.diagonal:
            irrelevant += ["crossing"]
        return replace(self, **{name: getattr(default, name) for name in irrelevant})
