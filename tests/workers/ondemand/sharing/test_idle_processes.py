"""Which processes are notified of a job on demand: idle ones, to take ranges or to lend cores."""

import os
from types import SimpleNamespace

import pytest

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.loans import Loan, machine_id
from nightgrid.workers.broker.shares import Share
from nightgrid.workers.ondemand.sharing import idle_processes
from nightgrid.workers.ondemand.sharing.idle_processes import IdleProcesses
from nightgrid.workers.ondemand.sharing.layer_threads import lend_core
from nightgrid.workers.ondemand.sharing.shared_ranges import work_shared_ranges

RECORD = SimpleNamespace(job_id="j" * 32, message={"job_id": "j" * 32})


@pytest.fixture
def idle(cluster, monkeypatch):
    """Three processes that are idle, and what is sent to them."""
    sent = []
    monkeypatch.setattr(
        idle_processes,
        "idle_processes",
        lambda *_: {"interactive": 1, "urgent": 2} if not busy else {},
    )
    monkeypatch.setattr(
        idle_processes,
        "publish",
        lambda _client, task, queue, about, call: sent.append((queue, call)),
    )
    monkeypatch.setattr(idle_processes, "client_of", lambda _: None)
    busy = []
    with connect(cluster) as client:
        yield SimpleNamespace(
            client=client, sent=sent, busy=busy, processes=IdleProcesses(client, cluster)
        )


def test_idle_processes_are_asked_for_their_cores(idle, cluster, monkeypatch):
    monkeypatch.setattr(idle_processes.os, "cpu_count", lambda: 8)
    loan = idle.processes.borrowing(RECORD)()
    assert [queue for queue, _ in idle.sent] == ["interactive", "urgent", "urgent"]
    call = idle.sent[0][1]
    assert (call["machine"], call["borrower"]) == (machine_id(), os.getpid())
    assert Loan.of(idle.client, cluster, call["token"], 3) == loan
    assert idle.client.exists(loan.key)
    loan.close()
    assert not lend_core(call, idle.client, cluster, "w"), "the job is done"


@pytest.mark.parametrize(("cores", "asked"), [(1, 0), (2, 1), (3, 2), (None, 0)])
def test_no_more_are_asked_than_the_machine_has_cores_for(idle, monkeypatch, cores, asked):
    monkeypatch.setattr(idle_processes.os, "cpu_count", lambda: cores)
    loan = idle.processes.borrowing(RECORD)()
    assert len(idle.sent) == asked
    assert (0 if loan is None else loan.asked) == asked


def test_a_process_on_another_machine_lends_nothing(idle, cluster, monkeypatch):
    monkeypatch.setattr(idle_processes.os, "cpu_count", lambda: 2)
    loan = idle.processes.borrowing(RECORD)()
    call = {**idle.sent[0][1], "machine": "another"}
    assert not lend_core(call, idle.client, cluster, "w")
    assert loan.lenders() == []
    loan.close()


def test_a_job_is_shared_with_those_who_were_called_early(idle, cluster):
    opening = idle.processes.opening(RECORD)
    opening.prepare()
    tokens = {call["token"] for _, call in idle.sent}
    assert len(idle.sent) == 3
    assert len(tokens) == 1
    early = Share.join(idle.client, cluster, tokens.pop())
    assert early.is_there()
    share = opening(3, 96, 1000)
    assert len(idle.sent) == 3, "no process is notified twice"
    assert share.key == early.key
    assert early.opened(0.0) == (96, 1000)
    assert early.take().start >= 3
    share.close()


def test_those_who_waited_for_long_are_called_again(idle, monkeypatch):
    opening = idle.processes.opening(RECORD)
    opening.prepare()
    monkeypatch.setattr(idle_processes, "OPENED_WITHIN_S", -1.0)
    share = opening(0, 96, 1000)
    assert len(idle.sent) == 6
    share.close()
    opening.close()


def test_a_job_that_is_not_shared_sends_home_who_was_called(idle, cluster):
    opening = idle.processes.opening(RECORD)
    opening.prepare()
    call = idle.sent[0][1]
    opening.close()
    assert work_shared_ranges(None, call, idle.client, cluster, "w") == 0


def test_while_no_process_is_idle_nothing_is_sent(idle):
    idle.busy.append(True)
    opening = idle.processes.opening(RECORD)
    opening.prepare()
    assert opening(0, 96, 1000) is None
    assert idle.processes.borrowing(RECORD)() is None
    assert idle.sent == []
    opening.close()


def test_a_server_that_is_away_notifies_no_process(idle, monkeypatch):
    def fail(*_):
        raise TransientError("away")

    monkeypatch.setattr(idle_processes, "publish", fail)
    assert idle.processes.borrowing(RECORD)() is None
    assert idle.processes.opening(RECORD)(0, 96, 1000) is None
