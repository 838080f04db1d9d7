"""Cores that idle processes lend to a job on the same machine."""

import os
import subprocess
import sys
import threading

import pytest

from nightgrid.workers.broker import loans
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.loans import Loan, is_alive, machine_id


@pytest.fixture
def client(cluster):
    with connect(cluster) as client:
        yield client


def lent_by(loan, names, borrower):
    """Lend a core for each name, in a thread each; return the threads and what they told."""
    told, threads = [], []
    for name in names:
        lend = lambda name=name: told.append((name, loan.lend(name, borrower)))  # noqa: E731
        threads.append(threading.Thread(target=lend))
        threads[-1].start()
    return threads, told


def test_a_core_is_lent_until_it_is_given_back(client, cluster):
    loan = Loan.of(client, cluster, "one")
    loan.open()
    threads, told = lent_by(loan, ["a", "b"], os.getpid())
    while len(loan.lenders()) < 2:
        pass
    assert sorted(loan.lenders()) == ["a", "b"]
    assert told == [], "both wait"
    loan.close()
    for thread in threads:
        thread.join()
    assert sorted(told) == [("a", True), ("b", True)]
    assert not client.keys(f"{loan.key}*")
    assert cluster.hard_limit_seconds < loans.KEPT_SECONDS


class Clock:
    """A clock that goes on while one sleeps; `then` is done in the third sleep."""

    def __init__(self, then):
        self.now, self.sleeps, self.then = 100.0, 0, then

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.sleeps += 1
        if self.sleeps == 3:
            self.then()


def test_all_who_are_asked_are_waited_for(client, cluster, monkeypatch):
    loan = Loan.of(client, cluster, "two", 2)
    client.rpush(f"{loan.key}:lent", "a")
    clock = Clock(lambda: client.rpush(f"{loan.key}:lent", "b"))
    monkeypatch.setattr(loans, "time", clock)
    assert loan.lenders() == ["a"]
    assert clock.sleeps == 0
    assert loan.lenders(60.0) == ["a", "b"]
    assert clock.sleeps == 3
    loan.close()


def test_who_does_not_come_is_waited_for_no_longer(client, cluster, monkeypatch):
    loan = Loan.of(client, cluster, "one of two", 2)
    client.rpush(f"{loan.key}:lent", "a")
    clock = Clock(lambda: None)
    monkeypatch.setattr(loans, "time", clock)
    assert loan.lenders(0.01) == ["a"]
    assert clock.now - 100.0 == pytest.approx(0.01, abs=loans.AWAIT_SECONDS)
    loan.close()


def test_nothing_is_lent_to_a_job_that_is_done_or_a_process_that_died(client, cluster):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert not is_alive(gone.pid)
    assert not Loan.of(client, cluster, "never was").lend("a", os.getpid())
    loan = Loan.of(client, cluster, "dead")
    loan.open()
    assert not loan.lend("a", gone.pid)
    assert loan.lenders() == []
    loan.close()


def test_a_core_comes_back_from_a_process_that_dies(client, cluster):
    loan = Loan.of(client, cluster, "dies")
    loan.open()
    borrower = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    threads, told = lent_by(loan, ["a"], borrower.pid)
    while not loan.lenders():
        pass
    borrower.kill()
    borrower.wait()
    threads[0].join()
    assert told == [("a", True)]
    loan.close()


def test_a_machine_is_named_alike_by_its_processes():
    code = "from nightgrid.workers.broker.loans import machine_id; print(machine_id())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == machine_id()
