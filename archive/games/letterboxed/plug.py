"""The archive's plug of Letter Boxed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from nightgrid.archive.games.plug import ArchivePlug, Remark
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game

if TYPE_CHECKING:
    import pyarrow as pa


_PAGE_MARK = b"gameData"
"""Marker of the payload in the page."""


class LetterBoxedArchivePlug(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug."""

    name = "letterboxed"
    form = "sides"
    columns = "letter int32[], side_size int32[], dictionary_id string"
    """`letter` holds the code points of the letters, side by side, `side_size` how many each side
    has; `dictionary_id` names the board's own words in the table of dictionaries, "" for a board
    without; `size` is the number of letters."""
    endpoint = "/svc/letter-boxed/v1"
    observed = True
    corpus_options = ("sides", "letters", "vowels")

    def claims_page(self, text: bytes) -> bool:
        """Recognise the page, or its script, by the name of its payload."""
        return _PAGE_MARK in text

    def claims_member(self, key: str | None, value: bytes) -> bool:  # noqa: ARG002 - the key says it
        """Recognise boards by their sides."""
        return key == "sides"

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:
        """Check that the chain can be played and uses every letter, whether or not it is best."""
        from nightgrid.archive.games.letterboxed.payload import ANY_CHAIN
        from nightgrid.archive.words.binding import lexicon_of
        from nightgrid.solvers.letterboxed.check import TooManyWaysError, check_chain

        try:
            check_chain(puzzle, ANY_CHAIN, solution, lexicon_of(game))
        except TooManyWaysError:
            return None
        except PermanentError:
            return False
        return True

    def missing_words(self, game: Game[Any, Any], solution: Any) -> tuple[str, ...]:
        """Return the words of the chain that are not in the lexicon, if it uses one."""
        from nightgrid.archive.words.binding import lexicon_of

        lexicon = lexicon_of(game)
        words = () if lexicon is None else tuple(dict.fromkeys(solution.words))
        return tuple(word for word in words if lexicon is not None and lexicon.find(word) < 0)

    def worth(self, game: Game[Any, Any], solution: Any) -> int | None:
        """Count the words, or the letters where the fewest of these are asked for."""
        from nightgrid.solvers.letterboxed.rules import Rules

        letters = Rules.parse(game.rules).chains == "fewest-letters"
        return solution.letters if letters else len(solution.words)

    def remarks(self, puzzles: Callable[[], pa.Table], editions: pa.Table) -> Iterator[Remark]:
        """Compare payloads' facts about the previous day, and their ids."""
        from nightgrid.archive.games.letterboxed.observations import remarks

        return remarks(puzzles, editions)


PLUG = LetterBoxedArchivePlug()
