"""Fit which English words Letter Boxed accepts, and measure first chains on later days.

    python -m benchmarks.letterboxed_words --fit
    python -m benchmarks.letterboxed_words --write

Published dictionaries label the words that their boards let be played: those of the days before
LATER_DAYS fit the weights, the chains of the others are counted. `--list FILE` takes a list of
words, one a line, in place of hunspell's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.instruments.boards import published_files
from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.model import model_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.lexicon import accepted
from nightgrid.solvers.lexicon.accepted import Features, WordLists, acceptance, compile_accepted
from nightgrid.solvers.lexicon.compile import compile_lexicon

LATER_DAYS = "2025-09-01"
RIDGE = 1.0
"""Weight of the squares of all weights beside the log likelihood."""
STEPS = 40


def main() -> None:
    """Fit and write the weights, or measure what each list adds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true", help=f"write {accepted.WEIGHTS_FILE.name}")
    parser.add_argument("--list", type=Path, action="append", default=[], metavar="FILE")
    add_write(parser)
    options = parser.parse_args()
    files = published_files("letterboxed")
    days = {path.stem: Puzzle.from_json(json.loads(path.read_text())) for path in files}
    fitted = [day for date, day in days.items() if date < LATER_DAYS]
    later = [day for date, day in days.items() if date >= LATER_DAYS]
    if options.fit:
        weights, words = fit(WordLists(), fitted)
        came_from = f"{words:,} words that {len(fitted)} days from {min(days)} on let be played"
        value = {
            "command": "python -m benchmarks.letterboxed_words --fit",
            "fitted_on": f"{came_from}, before {LATER_DAYS}",
            "weights": {name: round(weight, 4) for name, weight in weights.items()},
        }
        accepted.WEIGHTS_FILE.write_text(json.dumps(value, indent=1) + "\n")
    section = Section(
        name="letterboxed-words",
        title=f"First chains of Letter Boxed on {len(later)} typed boards",
        command="python -m benchmarks.letterboxed_words",
    )
    rows = []
    everything = WordLists()
    for name in ("wordfreq", "symspellpy", "hunspell", "symspellpy, hunspell", *options.list):
        lists = WordLists()
        if "symspellpy" not in str(name):
            lists.spelled = set()
        if "hunspell" not in str(name):
            lists.lower, lists.capital = set(), set()
        if isinstance(name, Path):
            lists.spelled = everything.spelled
            lists.lower = {word.upper() for word in name.read_text().split() if word.isalpha()}
        title = f"symspellpy, {name.name}" if isinstance(name, Path) else name
        rows.append([title, *measure(lists, fit(lists, fitted)[0], later)])
    section.table(["lists with wordfreq", "words", "chains accepted", "words accepted",
                   "said on average", "of three words"], rows)  # fmt: skip
    section.say(
        f"The boards of {len(later)} days from {LATER_DAYS} on, without their dictionaries; "
        f"weights fitted on {len(fitted)} earlier days. *Said*: the "
        "probability given with the chain."
    )
    finish(section, to_results=options.write)


def fit(lists: WordLists, days: Sequence[Puzzle]) -> tuple[Features, int]:
    """Fit the logistic model to the words that boards let be played: (weights, how many words)."""
    lexicon = compile_lexicon((word, 0) for word in lists.words())
    known: dict[str, bool] = {}
    for day in days:
        model = model_of(day, Rules(), lexicon)
        own = frozenset(day.dictionary or ())
        known |= {word: word in own for word in map(model.word, range(len(model)))}
    features = [lists.features(word) for word in known]
    names = list(features[0])
    matrix = np.array([[row[name] for name in names] for row in features])
    weights = _newton(matrix, np.array(list(known.values()), np.float64))
    return dict(zip(names, weights.tolist(), strict=True)), len(known)


def _newton(
    matrix: npt.NDArray[np.float64], labels: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    weights = np.zeros(matrix.shape[1])
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-matrix @ weights))
        slope = matrix.T @ (labels - expected) - RIDGE * weights
        curve = (matrix * (expected * (1 - expected))[:, None]).T @ matrix
        weights += np.linalg.solve(curve + RIDGE * np.eye(len(weights)), slope)
    return weights


def measure(lists: WordLists, weights: Features, days: Sequence[Puzzle]) -> list[str]:
    """Play boards without their dictionaries, and look the first chains up in these."""
    lexicon = compile_accepted(lists, acceptance(weights))
    game = LetterBoxedGame(Rules(), lexicon)
    good, said = [], []
    for day in days:
        for chain in game.solve(Puzzle(sides=day.sides), Ask(kind="first")).solutions:
            good.append([word in (day.dictionary or ()) for word in chain.words])
            said.append(chain.probability or 0.0)
    return [
        f"{len(lexicon):,}",
        f"{sum(map(all, good)) / len(days):.1%}",
        f"{sum(map(sum, good)) / sum(map(len, good)):.1%}",
        f"{sum(said) / len(said):.1%}",
        f"{sum(len(words) > 2 for words in good)}",
    ]


if __name__ == "__main__":
    main()
