"""The archive's plug of Strands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nightgrid.archive.games.plug import ArchivePlug
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game


class StrandsArchivePlug(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug."""

    name = "strands"
    form = "board or startingBoard"
    columns = "row_count int32, column_count int32, letter int32[], theme_word_count int32"
    """`letter` has the code point of each cell, row by row; theme_word_count is -1 if the number of
    words without the spangram is unknown; `size` is the number of cells."""
    endpoint = "/svc/strands/v2"
    ranked = True
    other_words = (
        "--lexicon FILE names another one, and --rule words=any takes any number of words from it"
    )
    corpus_options = ()

    def claims_member(self, key: str | None, value: bytes) -> bool:
        """Recognise a payload by its board, and a board by its rows, which are not objects."""
        if key == "board":
            return not value[1:].lstrip().startswith(b"{")
        if key is None:
            return value.startswith(b'"')
        return key == "startingBoard"

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:
        """Check that the words cover the board; words without cells may be anywhere."""
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

        A ranking has words and limits of its own.
        """
        from nightgrid.archive.words.binding import lexicon_of
        from nightgrid.solvers.strands.check import missing_words
        from nightgrid.solvers.strands.rules import Rules

        lexicon, rules = lexicon_of(game), Rules.parse(game.rules)
        if "meant" in game.counts:
            from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
            from nightgrid.solvers.strands.ranking.compounds import LIMITS

            parts, centibels = LIMITS[0]
            lexicon = ranking_vocabulary().lexicon
            rules = replace(rules, compound_parts=parts, compound_centibels=centibels)
        return () if lexicon is None else missing_words(solution, rules, lexicon)

    def is_same(self, official: Any, found: Any) -> bool:
        """Compare words and cells, or only the words of those without cells."""
        words = {entry.word for entry in found.entries}
        return len(official.entries) == len(found.entries) and all(
            (entry.word, entry.cells) in found.identity if entry.path else entry.word in words
            for entry in official.entries
        )


PLUG = StrandsArchivePlug()
