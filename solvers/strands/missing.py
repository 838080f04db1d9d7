"""Find the words of a cover that a lexicon lacks, so that the board loses its official solution."""

from __future__ import annotations

from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.score import component_costs
from nightgrid.solvers.strands.solution import Cover, Entry


def missing_words(cover: Cover, rules: Rules, lexicon: Lexicon) -> tuple[str, ...]:
    """Name the words of a cover that are neither words nor compounds that the rules allow.

    A theme word may only be a compound if it touches two opposite sides. One that could be a
    compound is not named if its cells are unknown.
    """
    costs = component_costs(lexicon, rules.part_centizipf)
    parts = 1 if rules.spangram == "off" else rules.compound_parts
    cells = [cell for entry in cover.entries for cell in entry.path]
    ends = [max(line) for line in zip(*cells, strict=True)]

    def is_compound(text: str, parts: int, most: int) -> bool:
        return not text or (
            parts > 0
            and any(
                costs[word] <= most
                and is_compound(text[letters:], parts - 1, most - int(costs[word]))
                for letters, word in lexicon.beginnings(text)
            )
        )

    def may_span(entry: Entry) -> bool:
        lines = zip(zip(*entry.path, strict=True), ends, strict=False)
        return not entry.path or any({0, end} <= set(line) for line, end in lines)

    return tuple(
        entry.word
        for entry in cover.entries
        if lexicon.find(entry.word) < 0
        and not (may_span(entry) and is_compound(entry.word, parts, rules.compound_centibels))
    )
