"""A process that dies, stalls or says what is no answer costs the question that it works, alone."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable

import pytest

from nightgrid.service.http.solves.quick import process_pool as several
from nightgrid.service.http.solves.quick import quick_process as one
from nightgrid.service.http.solves.quick.lines import Miss, QuickRequest
from nightgrid.service.http.solves.quick.process_pool import QuickProcesses
from nightgrid.workers.settings import Settings

Answers = list[str | Miss]
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one, "MODULE", "tests.service.http.solves.quick.toy_solver")
    monkeypatch.setattr(one, "ANSWER_S", PATIENCE_S)
    monkeypatch.setattr(several, "RESTART_S", (0.0, 0.0))


def run(
    settings: Settings, number: int, work: Callable[[QuickProcesses], Awaitable[Answers]]
) -> Answers:
    async def go() -> Answers:
        processes = QuickProcesses(settings, number)
        processes.begin()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await ready(processes, number)
                return await work(processes)
        finally:
            await processes.end()

    return asyncio.run(go())


async def ready(processes: QuickProcesses, number: int) -> None:
    while sum(each.is_ready for each in processes._processes) < number:  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(0.01)


async def ask_one(processes: QuickProcesses, say: str) -> str | Miss:
    found = await processes.ask(QuickRequest(body=say.encode(), begun_at=0.0).to_bytes())
    return found if isinstance(found, Miss) else found.reply.decode()


async def ask(processes: QuickProcesses, *says: str) -> Answers:
    return await asyncio.gather(*(ask_one(processes, say) for say in says))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_question_has_its_own_answer(settings: Settings, number: int) -> None:
    says = [str(i) for i in range(100)]
    answers = run(settings, number, lambda processes: ask(processes, *says))
    assert answers == says


@pytest.mark.parametrize("trouble", ["die", "garble"])
def test_a_process_that_fails_costs_the_question_that_it_works(
    settings: Settings, trouble: str
) -> None:
    """Given two processes: the question at hand behind that one is answered by the other."""
    says = [trouble, *(str(i) for i in range(20))]

    async def work(processes: QuickProcesses) -> Answers:
        answers = await ask(processes, *says)
        await ready(processes, 2)
        return answers + await ask(processes, "again")

    assert run(settings, 2, work) == [Miss.TRIED, *says[1:], "again"]


def test_a_process_that_stalls_is_ended_once_its_time_is_over(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given two processes, and one that stalls: the other one answers all else."""
    says = ["stall", *(str(i) for i in range(20))]

    async def work(processes: QuickProcesses) -> Answers:
        stalled, _ = processes._processes
        tasks = [asyncio.create_task(ask_one(processes, say)) for say in says]
        await asyncio.sleep(0)
        assert stalled.busy == one.AT_HAND
        # The second one stands behind the one that stalls.
        await asyncio.gather(tasks[1], *tasks[3:])
        assert not tasks[0].done()
        assert not tasks[2].done()
        with monkeypatch.context() as patch:
            patch.setattr(one, "ANSWER_S", 0.0)
            stalled._look()
        return await asyncio.gather(*tasks)

    assert run(settings, 2, work) == [Miss.TRIED, *says[1:]]


def test_what_waits_for_the_last_process_is_left_to_the_queue(settings: Settings) -> None:
    """Then none of them counts as tried but the one that it worked."""
    answers = run(settings, 1, lambda processes: ask(processes, "die", "1", "2", "3"))
    assert answers == [Miss.TRIED, *[Miss.NOT_TRIED] * 3]


def test_a_client_that_is_gone_takes_no_turn(settings: Settings) -> None:
    async def work(processes: QuickProcesses) -> Answers:
        tasks = [asyncio.create_task(ask_one(processes, str(i))) for i in range(9)]
        await asyncio.sleep(0)
        tasks[8].cancel()
        return await asyncio.gather(*tasks[:8], ask_one(processes, "tell"))

    says = [str(i) for i in range(8)]
    assert run(settings, 1, work) == [*says, json.dumps(says)]


def test_an_answer_that_is_too_long_is_none(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one, "LINE_BYTES", 2**20)
    assert run(settings, 1, lambda processes: ask(processes, "x" * 2**21)) == [Miss.TRIED]


def test_processes_end_with_the_service(settings: Settings) -> None:
    pids: list[int] = []

    async def work(processes: QuickProcesses) -> Answers:
        pids.extend(each._transport.get_pid() for each in processes._processes)
        return []

    run(settings, 2, work)
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
