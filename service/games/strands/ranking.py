"""The ranking of a board's covers by how likely each was meant, explained in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.games.strands.ranking.plugged import ALONE
from nightgrid.service.terminal.console import duration, sentence_of
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.pieces.pieces import TooManyPiecesError
from nightgrid.solvers.strands.states.engine import reason_of

SHOWN = 5
"""Most covers that are listed; --json has all ranked ones."""
TERMS_SHOWN = 3
"""Most signals, or terms of a word, that are shown, the strongest first."""
SCALE = "+1: 2.7 times as likely, +2.3: ten times"
"""The scale of the numbers, which are natural logarithms of likelihood ratios."""
_SIGNALS = {
    "words and geometry": "each word, and how the words are placed",
    "coherence": "words alike in meaning",
    "fit of each word": "each word fits the others",
    "PLDA": "words as those of one theme",
    "clue": "words like the clue",
    "spangram and theme": "spangram fits the words",
    "form": "words alike in form",
    "spangram's text": "what the spangram is joined of",
    "spangram as a phrase": "spangram as a phrase",
    "read by the language model": "clue, spangram and words read as a text",
}


def ranked_lines(covers: Sequence[Mapping[str, Any]], ranker: str, took_ns: int) -> list[str]:
    """Format the likeliest covers of a job of `meant`, and the reasons for the first."""
    if not covers:
        return ["No cover was found to rank."]
    first = covers[0]
    clue = "" if first["clue"] else ", without a clue"
    lines = [f"{len(covers)} covers ranked in {duration(took_ns)} by {ranker}{clue}:"]
    for place, cover in enumerate(covers[:SHOWN], 1):
        words = ", ".join(entry["word"] for entry in cover["theme_words"])
        spangram = " ".join(cover["components"])
        lines.append(f"  {place}. {cover['confidence']:6.1%}  {spangram}: {words}")
    more = len(covers) - SHOWN
    if more > 0:
        lines.append(f"  and {more:,} more; --json has all of them")
    apart = {first["spangram"]["word"]: " ".join(first["components"])}
    terms = {apart.get(word, word): nats for word, nats in first["words"].items()}
    signals = {_SIGNALS.get(name, name): nats for name, nats in first["signals"].items()}
    lines += [
        f"Why the first, against the mean of the list ({SCALE}): {_terms_text(signals)}.",
        "What each of its words adds:",
        *(f"  {word}: {_terms_text(nats)}" for word, nats in terms.items()),
    ]
    if ranker.endswith(ALONE_SUFFIX):
        lines.append(sentence_of(ALONE))
    return lines


def _terms_text(terms: Mapping[str, float]) -> str:
    strongest = sorted(terms.items(), key=lambda item: -abs(item[1]))[:TERMS_SHOWN]
    return ", ".join(f"{name.replace('_', ' ')} {number:+.1f}" for name, number in strongest)


@contextmanager
def within_budget() -> Iterator[None]:
    """Raise PermanentError if a ranking in the block ends without covers."""
    try:
        yield
    except TooManyPiecesError as error:
        raise PermanentError(str(error)) from error
    except BudgetSpentError as error:
        raise PermanentError(f"ranking ended: {reason_of(error).sentence}") from error
