"""Official solutions: whether one is a solution of the board that the lake has, by the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from archive.games import lexicon_of
from solvers.algebra import Game
from solvers.errors import PermanentError

if TYPE_CHECKING:
    from solvers.strands.puzzle import Puzzle
    from solvers.strands.rules import Rules
    from solvers.strands.solution import Cover


def is_valid(game: Game[Any, Any], puzzle: Any, value: Any) -> bool | None:
    """Check a solution, as the editions table has it, against a board and the game's rules.

    None where nobody can tell: a solution may name words without saying where they lie, or
    be playable in more ways than can be followed.
    """
    solution = game.solution_from_json(value)
    # Imported on first use: a game's room is entered only where the game is played.
    if game.name == "pips":
        from solvers.pips.check import check_solution

        try:
            check_solution(puzzle, solution)
        except PermanentError:
            return False
        return True
    if game.name == "strands":
        from solvers.strands.rules import Rules

        return _is_cover(puzzle, Rules.parse(game.rules), solution)
    if game.name == "letterboxed":
        from archive.letterboxed import ANY_CHAIN
        from solvers.letterboxed.check import check_chain
        from solvers.letterboxed.playing import TooManyWaysError

        try:
            check_chain(puzzle, ANY_CHAIN, solution, lexicon_of(game))
        except TooManyWaysError:
            return None
        except PermanentError:
            return False
        return True
    raise ValueError(f"no official solutions of {game.name!r} are known")


def worth(game: Game[Any, Any], value: Any) -> int | None:
    """Say what a solution is worth in a game that asks for the fewest of something, else None.

    It compares with the `value` of an outcome under the same rules.
    """
    if game.name != "letterboxed":
        return None
    from solvers.letterboxed.rules import Rules

    chain = game.solution_from_json(value)
    letters = Rules.parse(game.rules).chains == "fewest-letters"
    return chain.letters if letters else len(chain.words)


def is_same_cover(official: Cover, cover: Cover) -> bool:
    """Tell whether a cover is the official one: the same words on the same cells.

    Of a word that the official one does not place, the word alone has to agree.
    """
    if len(official.entries) != len(cover.entries):
        return False
    words = {entry.word for entry in cover.entries}
    return all(
        (entry.word, entry.cells) in cover.identity if entry.path else entry.word in words
        for entry in official.entries
    )


def _is_cover(puzzle: Puzzle, rules: Rules, cover: Cover) -> bool | None:
    from solvers.strands.placing import TooManySteps, place_words

    if cover.spangram is None or all(entry.path for entry in cover.entries):
        return _keeps(puzzle, rules, cover)
    known = {entry.word: entry.path for entry in cover.entries if entry.path}
    theme_words = [entry.word for entry in cover.theme_words]
    try:
        covers = place_words(puzzle, cover.spangram.word, theme_words, known)
    except TooManySteps:
        return None
    if any(_keeps(puzzle, rules, found) for found in covers):
        return True
    return None if len(covers) > 1 or rules.crossing else False


def _keeps(puzzle: Puzzle, rules: Rules, cover: Cover) -> bool:
    from solvers.strands.check import check_cover

    try:
        check_cover(puzzle, rules, cover)
    except PermanentError:
        return False
    return True
