"""Rank the boards that no weight was fitted on by the formula of reference 004, and by weights.

nice -n 5 python -m benchmarks.strands_formula [--masked FOLDER]

The last 150 boards by date, the same lists of covers for all. With a folder of a BERT masked
language model (config.json, vocab.txt, model.safetensors) the formula has all of its terms; without
one the model's term is left out.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.strands_fit.data import boards, dates, judged_weights, say
from nightgrid.archive.games.strands.masked.formula import formula_scores
from nightgrid.archive.games.strands.masked.masked_model import MaskedModel, is_named, masked_model
from nightgrid.archive.games.strands.ranking.ranker import LISTED, Ranker, open_meanings
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import JUDGED
from nightgrid.solvers.reasons import BudgetSpentError

PLACES = (1, 5, 10, LISTED)
WEIGHTS = "fitted weights"
FORMULA = "004's formula, without its language model"
WHOLE = "004's formula"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default=JUDGED, help="fitted weights")
    parser.add_argument("--masked", help="folder of the masked language model")
    parser.add_argument("--boards", type=int, help="only the first boards of these")
    add_write(parser)
    options = parser.parse_args()
    model = masked_model(options.masked) if options.masked or is_named() else None
    vocabulary = ranking_vocabulary()
    ranker = Ranker(judged_weights(options.name), vocabulary, open_meanings(vocabulary))
    finish(_section(ranker, model, options.boards), to_results=options.write)


def _section(ranker: Ranker, model: MaskedModel | None, most: int | None) -> Section:
    assert ranker.meanings is not None
    places: dict[str, list[int]] = {WEIGHTS: [], FORMULA: []}
    if model is not None:
        places[WHOLE] = []
    for count, board in enumerate(boards(dates()[1][:most], ranker.vocabulary), 1):
        told = ranker.told(board.ranked, board.clue)
        try:
            told = ranker.widened(told, board.clue)
            covers = ranker.listed(told)
        except BudgetSpentError:
            covers = []
        meant = replace(board, ranked=told).positives(covers, ranker.vocabulary)
        scores = {FORMULA: formula_scores(told, covers, board.clue, ranker.meanings, None)}
        if model is not None:
            scores[WHOLE] = formula_scores(told, covers, board.clue, ranker.meanings, model)
        ranked = ranker.rank_pieces(told, board.clue).covers if covers else ()
        order = {one.scored: -place for place, one in enumerate(ranked)}
        scores[WEIGHTS] = np.array([order[cover] for cover in covers])
        for name, own in scores.items():
            found = np.flatnonzero(np.isin(np.argsort(-own, kind="stable"), meant))
            places[name].append(int(found[0]) + 1 if len(found) else LISTED + 1)
        if count % 25 == 0:
            say(f"{count} boards")
    section = Section(
        name="strands-formula",
        title=f"The formula of 004 beside fitted weights: the last {len(places[WEIGHTS])} boards",
        command=command_line("strands_formula"),
    )
    section.table(
        ["ranked by", "first", "in 5", "in 10", "in list"],
        [
            [name, *(f"{np.mean([place <= k for place in own]):.1%}" for k in PLACES)]
            for name, own in places.items()
        ],
    )
    if model is None:
        section.say(
            "No folder of a masked language model was named, so its term of the formula is left "
            "out: no package of the index carries such a model, and nothing is downloaded. "
            "Likeness is MiniLM's, where 004 takes all-mpnet-base-v2."
        )
    return section


if __name__ == "__main__":
    main()
