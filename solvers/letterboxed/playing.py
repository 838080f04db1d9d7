"""Continue a player's words: joined, they are the first word of a chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import IllegalMoveError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.letterboxed.check import text_of
from nightgrid.solvers.letterboxed.model import Model
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.spelling import upper


def words_of(model: Model) -> list[str]:
    """List the playable words of a board, sorted."""
    return [model.word(index) for index in range(len(model))]


def read_chain(model: Model, moves: Sequence[Any]) -> tuple[str, ...]:
    """Read the words of a player. Raises IllegalMoveError for one that cannot be played there."""
    playable = set(words_of(model))
    words: list[str] = []
    for i, move in enumerate(moves):
        if not isinstance(move, str):
            raise IllegalMoveError(i, "expected a word")
        word = upper(move)
        if word not in playable:
            raise IllegalMoveError(i, f"{word:.40} cannot be played on these sides")
        words.append(word)
    for i, (before, after) in enumerate(pairwise(words), 1):
        if before[-1] != after[0]:
            raise IllegalMoveError(i, f"{after} does not begin with {before[-1]}")
    return tuple(words)


def continue_chain(
    game: Game[Puzzle, Chain], puzzle: Puzzle, model: Model, moves: Sequence[Any], budget: Budget
) -> Outcome[tuple[Any, ...]]:
    """Find the words that follow those of a player, as `Game.continuation`.

    Joined into one word, their letters are played on the same sides, so chains that begin with that
    word are the chains that begin with them.
    """
    words = read_chain(model, moves)
    if not words:
        return _words_left(game.solve(puzzle, Ask(kind="first"), None, budget), 0)
    joined = text_of(Chain(words=words))
    rules: Rules = game.bound_rules
    if isinstance(rules.chains, int):
        if len(words) > rules.chains:
            return Outcome(status=Status.UNSOLVABLE, count=0)
        rules = replace(rules, chains=rules.chains - len(words) + 1)
    board = Puzzle(sides=puzzle.sides, dictionary=(*words_of(model), joined))
    rest = type(game)(rules, None)
    playable = words_of(rest.model(board))  # type: ignore[attr-defined]
    if joined not in playable:
        return Outcome(status=Status.UNSOLVABLE, count=0)
    at = playable.index(joined)
    return _words_left(rest.solve(board, Ask(kind="first"), {"from": at, "to": at + 1}, budget), 1)


def _words_left(found: Outcome[Any], played: int) -> Outcome[Any]:
    return replace(found, solutions=tuple(chain.words[played:] for chain in found.solutions))
