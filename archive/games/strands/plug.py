"""Plug Strands into the archive."""

from __future__ import annotations

from typing import Any

from nightgrid.archive.games.plug import ArchivePlug
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game


class StrandsArchivePlug(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug."""

    name = "strands"
    columns = "row_count int32, column_count int32, letter int32[], theme_word_count int32"
    """`letter` holds the code point of each cell, row by row; theme_word_count is -1 where the
    number of words beside the spangram is not known; `size` is the number of cells."""
    endpoint = "/svc/strands/v2"
    ranked = True
    other_words = (
        "--lexicon FILE names another one, and --rule words=any takes any number of words from it"
    )
    corpus_options = ()

    def claims_list(self, first: bytes) -> bool:
        """Recognise a board by its rows, which are texts."""
        return first not in (b"{", b"[")

    def claims_member(self, key: str | None, value: Any) -> bool:
        """Recognise a payload by its board, and a board by its rows, which are no objects."""
        if key == "board":
            return not isinstance(value, list) or not any(isinstance(row, dict) for row in value)
        return key == "startingBoard"

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:
        """Check that the words cover the board, however those lie that are not placed."""
        from nightgrid.solvers.strands.check import check_cover
        from nightgrid.solvers.strands.placing import TooManySteps, place_words
        from nightgrid.solvers.strands.rules import Rules

        rules = Rules.parse(game.rules)

        def keeps(cover: Any) -> bool:
            try:
                check_cover(puzzle, rules, cover)
            except PermanentError:
                return False
            return True

        if solution.spangram is None or all(entry.path for entry in solution.entries):
            return keeps(solution)
        known = {entry.word: entry.path for entry in solution.entries if entry.path}
        theme_words = [entry.word for entry in solution.theme_words]
        try:
            covers = place_words(puzzle, solution.spangram.word, theme_words, known)
        except TooManySteps:
            return None
        if any(map(keeps, covers)):
            return True
        return None if len(covers) > 1 or rules.crossing else False

    def missing_words(self, game: Game[Any, Any], solution: Any) -> tuple[str, ...]:
        """Name the words of the cover that are neither words nor compounds that the rules allow.

        Theme words may be compounds only where they touch two opposite sides, which is left open
        here: one that could be a compound is not named.
        """
        from nightgrid.archive.words.binding import lexicon_of
        from nightgrid.solvers.strands.rules import Rules
        from nightgrid.solvers.strands.score import component_costs

        lexicon = lexicon_of(game)
        if lexicon is None:
            return ()
        rules = Rules.parse(game.rules)
        costs = component_costs(lexicon, rules.part_centizipf)

        def is_compound(text: str, parts: int, most: int) -> bool:
            return not text or (
                parts > 0
                and any(
                    costs[word] <= most
                    and is_compound(text[letters:], parts - 1, most - int(costs[word]))
                    for letters, word in lexicon.beginnings(text)
                )
            )

        parts = 1 if rules.spangram == "off" else rules.compound_parts
        return tuple(
            entry.word
            for entry in solution.entries
            if lexicon.find(entry.word) < 0
            and not is_compound(entry.word, parts, rules.compound_centibels)
        )

    def is_same(self, official: Any, found: Any) -> bool:
        """Compare words and cells, and of words that are not placed the words alone."""
        words = {entry.word for entry in found.entries}
        return len(official.entries) == len(found.entries) and all(
            (entry.word, entry.cells) in found.identity if entry.path else entry.word in words
            for entry in official.entries
        )


PLUG = StrandsArchivePlug()
