"""Plug Strands into the archive."""

from __future__ import annotations

from typing import Any

from nightgrid.archive.games.plug import ArchivePlug
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
        from nightgrid.archive.games.strands.official import is_cover
        from nightgrid.solvers.strands.rules import Rules

        return is_cover(puzzle, Rules.parse(game.rules), solution)

    def missing_words(self, game: Game[Any, Any], solution: Any) -> tuple[str, ...]:
        """Name the words of the cover that are neither words nor compounds that the rules allow."""
        from nightgrid.archive.games.strands.official import missing_words
        from nightgrid.archive.words.binding import lexicon_of
        from nightgrid.solvers.strands.rules import Rules

        lexicon = lexicon_of(game)
        return () if lexicon is None else missing_words(lexicon, Rules.parse(game.rules), solution)

    def is_same(self, official: Any, found: Any) -> bool:
        """Compare words and cells, and of words that are not placed the words alone."""
        from nightgrid.archive.games.strands.official import is_same_cover

        return is_same_cover(official, found)


PLUG = StrandsArchivePlug()
