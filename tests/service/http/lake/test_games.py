"""GET /v1/games comes from the plugs: a fifth game appears without further code."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.games import reader
from nightgrid.archive.payloads.published import Published
from nightgrid.service.http.lake.games import about
from nightgrid.service.options.game_rules import GameRules
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.registry import GAMES, check_ask


def test_every_game_is_listed(sample: TestClient):
    listed = sample.get("/v1/games").json()["games"]
    assert [each["game"] for each in listed] == list(GAMES)
    assert listed[0]["title"] == "Pips"
    assert listed[0]["levels"] == ["easy", "medium", "hard"]


@pytest.mark.parametrize("name", GAMES)
def test_descriptions_of_games_are_true(name: str, sample: TestClient):
    told = about(name)
    check_ask(Ask.parse(told.usual_ask), name)
    for kind in told.asks:
        check_ask(Ask.parse("best(1)" if kind == "best" else kind), name)
    assert told.example is not None
    posted = sample.post("/v1/boards/picture", json={"puzzle": told.example})
    assert posted.status_code == 200, posted.text
    (found,) = reader(name).read_puzzles(posted.request.content[len(b'{"puzzle":') : -1], name)
    assert isinstance(found, Published)


@pytest.mark.parametrize("name", GAMES)
def test_a_default_that_is_shown_is_used(name: str):
    usual = GameRules().rules(name)
    for rule in about(name).rules:
        assert (rule.type == "choice") is (rule.choices is not None)
        if rule.default is not None:
            assert GameRules(**{rule.name: rule.default}).rules(name) == usual
