"""A keeper that solves the chunks of its jobs itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import solution_tables
from nightgrid.archive.words.binding import bind_game, lexicon_for
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.ondemand import submitting
from nightgrid.workers.ondemand.keeper import Keeper
from nightgrid.workers.ondemand.results import result_row
from nightgrid.workers.ondemand.submissions import open_jobs
from nightgrid.workers.settings import Settings


def result(lake: Lake, job_id: str) -> dict[str, Any]:
    """Read the row of a job that is answered, with its solutions."""
    row = result_row(lake, job_id)
    assert row is not None
    tables = solution_tables(lake, row)
    texts = [text for table in tables for text in table.column("solution").to_pylist()]
    return {**row, "solutions": [json.loads(text) for text in texts]}


def inline_keeper(lake: Lake, settings: Settings) -> Keeper:
    return Keeper(lake, settings, InlineOutbox(lake, settings))


def keep(lake: Lake, settings: Settings, turns: int = 200) -> None:
    """Run a keeper until no job of a lake is left."""
    keeper = inline_keeper(lake, settings)
    while open_jobs(lake).wanted:
        turns -= 1
        assert turns, "the jobs do not end"
        keeper.turn(0.0)


def submit_without_server(lake: Lake, settings: Settings) -> Callable[..., str]:
    """Submit as a client whose server is dead: the job is wanted all the same."""

    def submit(
        puzzle: Any,
        ask: Ask,
        *,
        game: str = "pips",
        rules: str = "",
        lexicon: Lexicon | None = None,
        **more: Any,
    ) -> str:
        bound = bind_game(game, rules, lexicon or lexicon_for(game, own_words=True), ask=ask)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(submitting, "wake_keeper", lambda *_: None)
            return submitting.submit(lake, bound, puzzle, ask, settings, **more)

    return submit
