"""The workers' Celery app with a small ranker, whose process dies at a board until it may live."""

import itertools
import os
import random
import signal
from pathlib import Path

from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import fitted_weights
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from nightgrid.workers.app import app
from nightgrid.workers.ranking import work

WORDS = {"HOTDOGOG": 350, "CATS": 450, "SCAT": 250, "ACTS": 400, "CAST": 500}
RANKER = Ranker(fitted_weights(), vocabulary_of(WORDS, set(WORDS), []), None)
FATAL = "fatal"
"""The clue of boards at which the process dies."""
ONCE = "once"
"""The clue of boards at which it dies the first time."""
LONG = "long"
"""The clue of boards that are ranked with so many words that it takes seconds, again and
again until it is stopped."""
BEGUN = "begun"
"""The file that says that such a board is begun."""
_rank = work.rank


_draw = random.Random(1)
LONG_ROWS = " ".join("".join(_draw.choices("ABCD", k=6)) for _ in range(8))


def _many_words():
    words = {"".join(letters): 300 for letters in itertools.product("ABCD", repeat=4)}
    words |= {"".join(_draw.choices("ABCD", k=8)): 300 for _ in range(50)}
    return Ranker(fitted_weights(), vocabulary_of(words, set(words), []), None)


def _dying(ranker, wanted, budget):
    if wanted.clue == LONG:
        (Path(os.environ["SMALL_RANKING_FOLDER"]) / BEGUN).touch()
        while budget.stopped is None:
            # Some seconds a time, were it not stopped.
            row = _rank(_many_words(), wanted, budget)
        return row
    marker = Path(os.environ["SMALL_RANKING_FOLDER"]) / "died-once"
    if wanted.clue == FATAL or (wanted.clue == ONCE and not marker.exists()):
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return _rank(ranker, wanted, budget)


if "SMALL_RANKING_FOLDER" in os.environ:
    # A worker: the test that imports this for its names ranks as usual.
    work.open_ranker = lambda: RANKER
    work.rank = _dying
__all__ = ["app"]
