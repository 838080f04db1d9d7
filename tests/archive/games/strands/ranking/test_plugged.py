"""One plug offers the ranker, with everything that its protocol names."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from nightgrid.archive import games
from nightgrid.archive.games import ranking_game, ranking_plug
from nightgrid.archive.games.plug import ALONE_SUFFIX, RankingPlug
from nightgrid.archive.games.strands.language import language_model
from nightgrid.archive.games.strands.ranking import minilm, plugged, weights
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES, game_plug
from tests.service.scenes import environment


def test_one_game_has_ranked_covers():
    assert [game for game in GAMES if "meant" in game_plug(game).asks] == [ranking_game()]
    assert ranking_plug() is plugged
    assert ranking_plug().GAME == ranking_game() == "strands"


def test_the_plug_offers_what_the_protocol_names():
    wanted = {*RankingPlug.__annotations__, *(n for n in vars(RankingPlug) if n[0] != "_")}
    assert wanted == set(plugged.__all__)
    typed: RankingPlug = plugged
    assert all(hasattr(typed, name) for name in wanted)


def test_boards_that_judge_weights_are_later_than_those_they_were_fitted_on():
    until = ranking_plug().fitted_until
    judged, used = until(weights.JUDGED), until(weights.NAME)
    assert judged is not None
    assert used is not None
    assert judged < used
    assert until(weights.NAME + ALONE_SUFFIX) == used
    assert until("meant-0") is until("../meant-6") is None


@pytest.mark.parametrize("missing", [minilm, language_model])
def test_without_one_of_the_models_the_ranker_uses_none(
    monkeypatch: pytest.MonkeyPatch, missing: ModuleType
):
    for model in (minilm, language_model):
        monkeypatch.setattr(model, "PACKAGE", "json")
    assert plugged.ranker_here() == weights.NAME
    monkeypatch.setattr(missing, "PACKAGE", "no_such_package_of_a_model")
    assert plugged.ranker_here() == weights.NAME + ALONE_SUFFIX


def test_without_such_a_game_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(games, "GAMES", ("pips",))
    assert ranking_game() is None
    with pytest.raises(PermanentError, match="no game here has ranked covers"):
        ranking_plug()


def test_asking_the_plug_for_texts_loads_no_kernel():
    code = (
        "import sys; from nightgrid.archive.games import ranking_plug;"
        "print(ranking_plug().GAME, ranking_plug().ALONE != '', 'numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["strands", "True", "False"]
