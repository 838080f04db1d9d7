"""`submit --rank`: a server that is just being started is waited for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nightgrid.service.cli.ondemand import waiting_for_server
from nightgrid.workers.ranking import ondemand

Invoke = Callable[..., tuple[int, str, str]]
BOARD = {"board": ["HOTD", "GOGO", "CATS", "SCAT"], "theme_words": 2}


def test_a_ranking_waits_for_the_server_of_a_worker_that_was_started_just_before(
    invoke: Invoke, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    looks = iter([False, False, True])
    monkeypatch.setattr("nightgrid.workers.cluster.server.is_up", lambda _: next(looks))
    monkeypatch.setattr(waiting_for_server, "POLL_S", 0.0)
    monkeypatch.setattr(waiting_for_server, "current_id", lambda _: "id")
    monkeypatch.setattr(ondemand, "submit_ranking", lambda *_: "0" * 32)
    file = write(BOARD)

    code, out, err = invoke("submit", file, file, "--rank", "--lake", "lake")

    assert (code, err, out.count("0" * 32)) == (0, "", 2)
    assert list(looks) == []


def test_without_a_server_a_ranking_says_how_to_start_one(
    invoke: Invoke, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(waiting_for_server, "SERVER_PATIENCE_S", 0.0)

    code, _, err = invoke("submit", write(BOARD), "--rank", "--lake", "lake")

    assert code == 1
    assert "no server answers" in err
    assert "start `nightgrid worker` on this lake" in err


def test_a_ranking_waits_for_a_server_no_longer_than_for_its_answer(
    invoke: Invoke, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    looks = 0

    def is_up(_: object) -> bool:
        nonlocal looks
        looks += 1
        return False

    monkeypatch.setattr("nightgrid.workers.cluster.server.is_up", is_up)

    code, _, err = invoke("submit", write(BOARD), "--rank", "--lake", "lake", "--wait", "0")

    assert (code, looks) == (1, 1)
    assert "no server answers" in err
