"""The tables of a section: places, ablations, calibration, misses and games played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from wordfreq import zipf_frequency

from benchmarks.strands_fit.lists import NAMES
from benchmarks.strands_rank.calibration import interval, losses
from benchmarks.strands_rank.early import Early, refitted
from benchmarks.strands_rank.tried import Tried
from nightgrid.archive.games.strands.playing.play import Answer, Play, Possible, play_board
from nightgrid.archive.games.strands.ranking.features import GROUPS
from nightgrid.archive.games.strands.ranking.misses import Laid, Miss, class_of_miss
from nightgrid.archive.games.strands.ranking.ranker import LISTED
from nightgrid.archive.games.strands.ranking.themes import SIGNAL
from nightgrid.archive.games.strands.ranking.weights import Weights
from nightgrid.archive.results.gold.rank_accuracy import bins
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

F64 = npt.NDArray[np.float64]
DRAWS = 5000
"""Bootstrap draws."""
PLACES = (1, 5, 10, LISTED)
PLACES_HEAD = ["ranked by", "first", "in 5", "in 10", "in list", "first, 95 %"]
GEOMETRY = ("crosses_itself", "crosses_again", "diagonal", "turns", "edges", "sides")
SIGNALS: dict[str, tuple[str, ...]] = {
    "frequency": ("zipf", "below_1.5", "below_3", "above_4", "above_5"),
    "length": ("letters_4", "letters_5", "letters_6", "letters_7", "beyond_7"),
    "inflection": ("ing", "ed", "s"),
    "path geometry": GEOMETRY,
    "clue in the search": ("clue",),
    "wordness": ("wordness",),
    "compound language model": ("compound_text",),
}
ROLE = "spangram_"


def terms_of(signal: str) -> frozenset[str]:
    """Name the terms of a signal of the search, in both roles of a word."""
    return frozenset(name for name in NAMES if name.removeprefix(ROLE) in SIGNALS[signal])


def scores_of(tried: Sequence[Tried], weights: Weights) -> list[F64]:
    """Score the listed covers by everything."""
    return [
        weights.theme[0] * (one.features @ weights.cover) + one.themes @ weights.theme[1:]
        for one in tried
    ]


def places(tried: Sequence[Tried], weights: Weights, early: Early, ridge: float) -> list[Any]:
    """Write the rows of places: everything, each signal taken out, baselines."""
    so_far = [one.features @ weights.cover for one in tried]
    read = [one.themes @ weights.theme[1:] for one in tried]
    rows = [
        _listed("everything", tried, scores_of(tried, weights)),
        _listed(f"without {SIGNAL}", tried, so_far),
    ]
    for group, names in GROUPS.items():
        cover = refitted(early.choices, names, ridge)
        own = [weights.theme[0] * (one.features @ cover) for one in tried]
        scores = [so_far + more for so_far, more in zip(own, read, strict=True)]
        rows.append(_listed(f"without {group}", tried, scores))
    for signal in SIGNALS:
        scores = _less(tried, weights, terms_of(signal))
        rows.append(_listed(f"without {signal}", tried, scores))
    rows.append(_listed("the search's score alone", tried, [one.features[:, 0] for one in tried]))
    rows += [
        _row(name, [one.again[name].place(one.official) or LISTED + 1 for one in tried])
        for name in (tried[0].again if tried else ())
    ]
    return rows


def _listed(what: str, tried: Sequence[Tried], scores: Sequence[F64]) -> list[object]:
    pairs = zip(tried, scores, strict=True)
    return _row(what, [one.place(own) or LISTED + 1 for one, own in pairs])


def _row(what: str, found: Sequence[int]) -> list[object]:
    own = np.array(found)
    rng = np.random.default_rng(0)
    draws = (own == 1)[rng.integers(0, len(own), (DRAWS, len(own)))].mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    return [what, *(f"{(own <= k).mean():.1%}" for k in PLACES), f"{low:.1%} - {high:.1%}"]


def _less(tried: Sequence[Tried], weights: Weights, taken: frozenset[str]) -> list[F64]:
    """Take terms out of the search's score of the listed covers."""
    known = weights.search.weights()
    lost = np.array([known[name] * (name in taken) for name in NAMES])
    cover, theme = weights.cover, weights.theme
    return [
        theme[0] * (one.features @ cover - cover[0] * (one.sums @ lost)) + one.themes @ theme[1:]
        for one in tried
    ]


def confidences(tried: Sequence[Tried], scores: Sequence[F64]) -> tuple[list[float], list[bool]]:
    """List what is said of the first cover of each board that has one, and whether it is right."""
    said, right = [], []
    for one, own in zip(tried, scores, strict=True):
        if len(own):
            mass = np.exp(own - own.max())
            said.append(float(mass.max() / mass.sum()))
            right.append(one.place(own) == 1)
    return said, right


def confidences_anew(tried: Sequence[Tried], name: str) -> tuple[list[float], list[bool]]:
    """List the same for a ranking with a search of its own."""
    ranked = [(one.again[name], one.official) for one in tried if one.again[name].words]
    return [own.confidence for own, _ in ranked], [own.place(official) == 1
                                                   for own, official in ranked]  # fmt: skip


SURE_HEAD = ["confidence of the first", "boards", "said, mean", "right", "right, 95 %"]


def how_sure(said: Sequence[float], right: Sequence[bool]) -> list[list[object]]:
    """Write the bins of confidence as rows under SURE_HEAD."""
    rows: list[list[object]] = []
    for one in bins(said, right):
        low, high = interval(one)
        rows.append(
            [
                f"{one.low:.2f} to {one.high:.2f}", one.boards, f"{one.said:.1%}",
                f"{one.right:.1%}", f"{low:.0%} - {high:.0%}",
            ]
        )  # fmt: skip
    return rows


def losses_sentence(said: Sequence[float], right: Sequence[bool]) -> str:
    """Describe how good confidences are as forecasts; the calibration error is of the bins."""
    own = losses(said, right)
    return (
        f"Log loss {own.log_loss:.3f} nats, Brier score {own.brier:.3f}, expected calibration "
        f"error {own.error:.1%}."
    )


def misses(
    tried: Sequence[Tried], scores: Sequence[F64], open_vocabulary: Callable[[], Vocabulary]
) -> list[list[object]]:
    """Count the boards whose first cover is another one by the class of the miss."""
    counts: Counter[Miss] = Counter()
    for one, own in zip(tried, scores, strict=True):
        official = Laid(spangram=one.spangram, words=one.official, cells=frozenset())
        first = one.laid[int(np.argmax(own))] if len(own) else None
        listed = one.laid[one.meant[0]] if one.meant else None
        miss = class_of_miss(official, first, listed, open_vocabulary)
        if miss is not None:
            counts[miss] += 1
    return [[miss.phrase, count] for miss, count in counts.most_common()]


def played(tried: Sequence[Tried], scores: Sequence[F64]) -> list[list[object]]:
    """Play every board in three ways."""
    results: dict[str, list[tuple[int, bool]]] = {
        "the posterior, after each answer": [],
        "cover after cover, without conditioning": [],
        "words by their frequency": [],
    }
    after_each, in_order, by_frequency = results.values()
    for one, own in zip(tried, scores, strict=True):
        answers: list[tuple[str, Answer]] = [(word, "theme word") for word in one.official]
        truth: dict[str, Answer] = dict(answers) | {one.spangram: "spangram"}
        mass = np.exp(own - own.max()) if len(own) else own
        covers = [
            Possible(
                spangram=laid.spangram, theme_words=frozenset(laid.words - {laid.spangram}),
                probability=float(share),
            )
            for laid, share in zip(one.laid, mass, strict=True)
        ]  # fmt: skip
        after_each.append(play_out(covers, truth))
        best = [
            word
            for i in np.argsort(-own, kind="stable")
            for word in (covers[i].spangram, *sorted(covers[i].theme_words))
        ]
        in_order.append(play_in_order(list(dict.fromkeys(best)), truth))
        listed = {word for laid in one.laid for word in laid.words}
        common = sorted(listed, key=lambda word: (-zipf_frequency(word.lower(), "en"), word))
        by_frequency.append(play_in_order(common, truth))
    return [
        [
            name,
            f"{np.mean([wrong for wrong, _ in games]):.2f}",
            f"{np.mean([not wrong and solved for wrong, solved in games]):.1%}",
            f"{np.mean([solved for _, solved in games]):.1%}",
        ]
        for name, games in results.items()
    ]


def play_out(covers: Sequence[Possible], truth: Mapping[str, Answer]) -> tuple[int, bool]:
    """Play against a known answer without hints: wrong guesses, and whether all words were found.

    A board whose cover is not among those listed ends when no listed cover agrees with what was
    heard.
    """
    played = play_board(Play(covers), truth)
    return played.wrong, played.solved


def play_in_order(words: Sequence[str], truth: Mapping[str, Answer]) -> tuple[int, bool]:
    """Guess words in a fixed order: wrong guesses up to the last right one, and whether it came."""
    left, wrong = set(truth), 0
    for word in words:
        if not left:
            break
        if word in left:
            left.remove(word)
        else:
            wrong += 1
    return wrong, not left
