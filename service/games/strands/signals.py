"""The signals that ranked a cover, as text for people."""

from __future__ import annotations

from collections.abc import Mapping

SHOWN = 3
"""Signals, or terms of a word, that are shown: those that weigh most."""
SCALE = "+1: 2.7 times as likely, +2.3: ten times"
"""What the numbers mean, which are natural logarithms of how many times as likely."""
_SIGNALS = {
    "words and geometry": "the words one by one and how they lie",
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


def why_lines(signals: Mapping[str, float], words: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Write what speaks for a cover, and for each of its words."""
    lines = [f"  {word}: {terms_text(terms)}" for word, terms in words.items()]
    return [signals_text(signals), "What each of its words adds:", *lines]


def signals_text(signals: Mapping[str, float]) -> str:
    """Write the strongest signals of a cover, against the mean of the listed covers."""
    told = {_SIGNALS.get(name, name): number for name, number in signals.items()}
    return f"Why the first, against the mean of the list ({SCALE}): {terms_text(told)}."


def terms_text(terms: Mapping[str, float]) -> str:
    """Write the SHOWN strongest terms, each with its number."""
    strongest = sorted(terms.items(), key=lambda item: -abs(item[1]))[:SHOWN]
    return ", ".join(f"{name.replace('_', ' ')} {number:+.1f}" for name, number in strongest)
