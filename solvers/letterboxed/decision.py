"""Decide whether a board can be solved with at most so many words: LETTER BOXED of article 000."""

from __future__ import annotations

from solvers.algebra import Budget, Outcome, Status
from solvers.letterboxed.bound import words_bound
from solvers.letterboxed.chain import Chain
from solvers.letterboxed.check import text_of
from solvers.letterboxed.model import model_of
from solvers.letterboxed.playing import Playing, TooManyWaysError
from solvers.letterboxed.puzzle import Puzzle
from solvers.letterboxed.rules import Rules
from solvers.letterboxed.search import Search
from solvers.letterboxed.shortest import shortest_chain
from solvers.lexicon.lexicon import Lexicon
from solvers.reasons import BudgetSpentError


def decide(
    puzzle: Puzzle,
    words: int | None = None,
    *,
    min_letters: int = Rules().min_letters,
    lexicon: Lexicon | None = None,
    budget: Budget | None = None,
) -> Outcome[Chain]:
    """Solve a board with at most `words` words (None: any number), whichever chain comes first.

    Ends with the first chain that is found, and looks for chains no longer than any board needs
    (solvers.letterboxed.bound): `unsolvable` is proven. The chain is not said to be the shortest.
    """
    most = words_bound(puzzle)
    if words is not None:
        most = min(most, words)
    model = model_of(puzzle, Rules(min_letters=min_letters), lexicon)
    search = Search(model, budget or Budget(), engine="general")
    try:
        found = shortest_chain(search, search.start, range(len(model)), most, fewest=False)
    except BudgetSpentError as error:
        return Outcome(
            status=Status.OVER_BUDGET,
            reason_code=error.reason_code,
            statistics=search.statistics,
        )
    if found is None:
        return Outcome(status=Status.UNSOLVABLE, count=0, statistics=search.statistics)
    chain = _ended(puzzle, Chain(words=tuple(model.words[word] for word in found)))
    return Outcome(
        status=Status.SOLVED,
        count=1,
        solutions=(chain,),
        statistics=search.statistics,
        value=len(chain.words),
    )


def _ended(puzzle: Puzzle, chain: Chain) -> Chain:
    """End a chain with the word by which every letter can be collected."""
    if len(chain.words) == 1:
        return chain
    playing = Playing(puzzle, text_of(chain))
    try:
        for number, word in enumerate(chain.words, 1):
            for i in range(len(word) - (number > 1)):
                if number == 1 and i == 0:
                    playing.start()
                else:
                    playing.step()
            if playing.complete:
                return Chain(words=chain.words[:number])
    except TooManyWaysError:
        pass  # There are too many ways of playing to follow: the chain stands as it was found.
    return chain
