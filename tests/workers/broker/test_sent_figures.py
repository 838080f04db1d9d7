"""Figures on their way: counted in a process, sent to Redis, read by the service."""

import pytest
import redis

from nightgrid.workers import figures
from nightgrid.workers.broker import sent_figures
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.sent_figures import read_figures, send_figures
from nightgrid.workers.figures import KEEPER_POLL, ROWS, TASKS, note, note_rows, take_gathered
from nightgrid.workers.ondemand import keeper


@pytest.fixture(autouse=True)
def nothing_gathered(monkeypatch):
    # The keeper of the cluster is a thread here: it notes its looks, and sends what a test notes.
    monkeypatch.setattr(keeper, "note", lambda *_, **__: None)
    monkeypatch.setattr(keeper, "send_figures", lambda *_: None)
    take_gathered()
    yield
    take_gathered()


@pytest.fixture
def server(cluster, monkeypatch):
    """A server that other tests use, too: figures of this one have a key of their own."""
    monkeypatch.setattr(sent_figures, "_key", lambda _: "figures-of-this-test")
    take_gathered()
    with connect(cluster) as client:
        yield client
        client.delete("figures-of-this-test")


@pytest.mark.cluster
def test_what_processes_count_adds_up_and_a_gauge_is_what_was_told_last(server, cluster):
    for moment in (1.0, 2.0):
        note(TASKS, "solve_chunk", "success")
        note(KEEPER_POLL, amount=moment)
        note_rows("pips", {"solved": 2, "split": 1}, states=10, kernel_ns=500_000_000)
        send_figures(server, cluster)
    assert read_figures(server, cluster) == {
        ("nightgrid_tasks_total", ("solve_chunk", "success")): 2,
        ("nightgrid_keeper_look_timestamp_seconds", ()): 2.0,
        ("nightgrid_rows_total", ("pips", "solved")): 4,
        ("nightgrid_rows_total", ("pips", "split")): 2,
        ("nightgrid_states_total", ("pips",)): 20,
        ("nightgrid_kernel_seconds_total", ("pips",)): 1.0,
    }
    assert take_gathered() == {}


@pytest.mark.cluster
def test_what_is_no_figure_of_ours_is_left_out(server, cluster):
    note(ROWS, "pips", "solved")
    send_figures(server, cluster)
    for field, text in {
        "odd": "1",
        "nightgrid_rows_total": "1",
        "nightgrid_rows_total|a|b|c": "1",
        "nightgrid_rows_total|a|b": "x",
        "nightgrid_rows_total|a|c": "nan",
        "\n": "\x1b",
    }.items():
        server.hset("figures-of-this-test", field, text)
    assert read_figures(server, cluster) == {("nightgrid_rows_total", ("pips", "solved")): 1}
    server.hset("figures-of-this-test", mapping={f"x{i}": "1" for i in range(2_000)})
    assert read_figures(server, cluster) == {}
    server.delete("figures-of-this-test")
    server.set("figures-of-this-test", "text")
    assert read_figures(server, cluster) == {}
    note(ROWS, "pips", "solved")
    send_figures(server, cluster)


def test_a_server_that_does_not_answer_has_it_next_time(settings, monkeypatch):
    monkeypatch.setattr(sent_figures, "_key", lambda _: "k")

    class Dead:
        def pipeline(self, **_):
            return self

        def hincrbyfloat(self, *_): ...

        hset = hincrbyfloat

        def execute(self, **_):
            raise redis.ConnectionError("gone")

    note(ROWS, "pips", "solved", amount=2)
    note(KEEPER_POLL, amount=1.0)
    send_figures(Dead(), settings)
    note(ROWS, "pips", "solved")
    assert figures.take_gathered() == {
        (ROWS.name, ("pips", "solved")): 3,
        (KEEPER_POLL.name, ()): 1.0,
    }
