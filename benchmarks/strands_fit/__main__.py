"""Fit the weights by which covers of Strands are ranked, and write them with their provenance.

python -m benchmarks.strands_fit --name meant-13
python -m benchmarks.strands_fit --name meant-14 --all-boards

Boards are divided by date (benchmarks.strands_fit.data). The first command never opens the last
150, so that they can judge its weights. With --all-boards the weights are fitted on these, too:
such weights are for use, and only boards that come later can judge them. Ridges and temperatures
are chosen on the boards before the last 150 in both cases.

Every number is computed by the command that the provenance names. Nothing is taken from weights
that are there.
"""

from __future__ import annotations

import argparse
import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.strands_fit import start
from benchmarks.strands_fit.data import MODEL_PACKAGES, dates, say, version_of
from benchmarks.strands_fit.fit import F64, Fit
from benchmarks.strands_fit.forward import Temperatures, temperatures_of
from benchmarks.strands_fit.lists import NAMES, Listed, lists
from benchmarks.strands_fit.phrases import learn_phrases
from benchmarks.strands_fit.write import write_weights
from nightgrid.archive.games.strands.ranking.features import FEATURES
from nightgrid.archive.games.strands.ranking.ranker import open_meanings, take_one_thread
from nightgrid.archive.games.strands.ranking.themes import SO_FAR, THEME
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Inputs of the numbers besides the published boards and the packages."""

    name: str
    all_boards: bool
    """Whether weights are fitted on the boards that judge, too."""
    every: int
    """Every n-th board is taken."""

    @property
    def command(self) -> str:
        """Write the command that makes the weights again."""
        parts = ["python", "-m", "benchmarks.strands_fit", "--name", self.name]
        parts += ["--all-boards"] * self.all_boards
        parts += ["--every", str(self.every)] * (self.every != 1)
        return shlex.join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and write."""
    settings, folder = read_arguments(arguments)
    meanings = open_meanings(ranking_vocabulary())
    take_one_thread()
    early, aside = dates()
    files, known = [*early, *aside][:: settings.every], len(early[:: settings.every])
    listed = lists(files[:known], meanings, start.SCORE)
    chooses = Fit(listed, meanings, learn_phrases(meanings))
    temperatures = temperatures_of(chooses)
    fit = chooses
    weights, wordness = _fitted(fit, temperatures)
    if settings.all_boards:
        fit = chooses.with_more(lists(files[known:], meanings, start.SCORE))
        weights, wordness = _fitted(fit, temperatures)
    text = {"provenance": _provenance(settings, fit, chooses, temperatures), **weights}
    write_weights(folder, settings.name, text, wordness, fit.learned(None))
    say(f"wrote {folder / settings.name}.json")


def read_arguments(arguments: Sequence[str] | None) -> tuple[Settings, Path]:
    """Read what is fitted, and into which folder it is written."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", required=True, help="name of the weights, and of their files")
    parser.add_argument(
        "--all-boards", action="store_true", help="fit on the boards that are kept aside, too"
    )
    parser.add_argument("--every", type=int, default=1, help="take every n-th board")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where files are written, else the package"
    )
    options = parser.parse_args(arguments)
    settings = Settings(name=options.name, all_boards=options.all_boards, every=options.every)
    return settings, options.folder


def _fitted(fit: Fit, temperatures: Temperatures) -> tuple[dict[str, Any], F64]:
    """Fit everything: the weights as a file has them, and the direction of wordness."""
    whole, folds = fit.search(alone=False)
    alone, _ = fit.search(alone=True)
    cover, own, choices = fit.covers(folds)
    theme = fit.themes(folds, own, choices) / temperatures.theme
    text = {
        "search": {**_named(NAMES, whole, 4), "wordness": 1.0},
        "search_alone": _named(NAMES, alone, 4),
        "alone_temperature": temperatures.alone,
        "cover": _named(FEATURES, cover, 5),
        "theme": _named((SO_FAR, *THEME), theme, 5),
    }
    return text, fit.directions @ whole[len(NAMES) :]


def _provenance(
    settings: Settings, fit: Fit, chooses: Fit, temperatures: Temperatures
) -> dict[str, Any]:
    """Return where weights come from: what they are fitted on, and on what was chosen what."""
    minilm, smollm = (f"{name} {version_of(name)}" for name in MODEL_PACKAGES)
    return {
        "command": settings.command,
        **_span(fit.listed),
        "lexicon": fit.meanings.vocabulary.lexicon.lexicon_id,
        "model": f"all-MiniLM-L6-v2 ({minilm})",
        "language_model": f"SmolLM2-135M-Instruct ({smollm})",
        "python": platform.python_version(),
        "numpy": version_of("numpy"),
        "start": start.SCORE.name,
        "chosen_on": _span(chooses.listed),
        "temperature": temperatures.theme,
        "cross_validation": chooses.report,
        "forward": temperatures.report,
    }


def _span(listed: Sequence[Listed]) -> dict[str, Any]:
    return {"boards": len(listed), "from": listed[0].board.date, "to": listed[-1].board.date}


def _named(names: tuple[str, ...], weights: F64, digits: int) -> dict[str, float]:
    return dict(zip(names, weights.round(digits).tolist(), strict=False))


if __name__ == "__main__":
    main()
