"""The supervisor starts the server first, restarts what exits, and shares its folder."""

import os
import signal
from contextlib import closing

import pytest

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.redis_keys import BATCH
from nightgrid.workers.broker.worker_keys import LEFT, exit_of, living_workers
from nightgrid.workers.cluster import server, supervisor
from nightgrid.workers.cluster.local import beginning_cluster
from nightgrid.workers.cluster.supervisor import KEEPER, SERVER, Supervisor, supervisor_state
from tests.local_cluster import local_cluster
from tests.workers.cluster.test_survival import pid_of, wait_for
from tests.workers.conftest import quick_settings

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("toy_in_place_of_pips")]


@pytest.fixture
def settings(tmp_path):
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield quick_settings(tmp_path)
    for number, handler in before.items():
        signal.signal(number, handler)


def roles_of(settings):
    return list((supervisor_state(settings) or {"processes": {}})["processes"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_answers_before_workers_may_be_started(settings, number):
    """Given kernels that are being compiled, When a signal arrives, Then it is named."""
    checks = []

    def may_work():
        checks.append(server.is_up(settings))
        if len(checks) == 1:
            assert roles_of(settings) == [SERVER]
            signal.raise_signal(number)
        return False

    assert Supervisor(settings, (SERVER, BATCH)).run(may_work=may_work) == number
    assert checks[0]
    assert not server.is_up(settings)


def test_a_server_that_is_killed_is_restarted_and_reported(settings, capfd):
    pids = []

    def may_work():
        if server.is_up(settings):
            pid = pid_of(settings, SERVER)
            if not pids:
                os.kill(pid, signal.SIGKILL)
            elif pid != pids[0]:
                signal.raise_signal(signal.SIGTERM)
            pids.append(pid)
        return False

    Supervisor(settings, (SERVER, BATCH)).run(may_work=may_work)
    assert capfd.readouterr().err == f"server {pids[0]} was killed by SIGKILL; it is restarted\n"


def test_ctrl_c_is_answered_before_workers_have_ended(settings, capfd, monkeypatch):
    monkeypatch.setattr(supervisor, "command_of", lambda *_: ["sleep", "600"])
    watched = Supervisor(settings.model_copy(update={"redis_url": None}), (KEEPER,))
    monkeypatch.setattr(server, "is_up", lambda _: True)
    monkeypatch.setattr(watched, "_beat", lambda: signal.raise_signal(signal.SIGINT))
    watched.run()
    seconds = settings.soft_shutdown_seconds
    line = f"stopping: running tasks have {seconds:g} s to end, else they are handed back"
    assert capfd.readouterr().err.splitlines().count(line) == 1


def test_batches_run_at_a_lower_priority(settings, monkeypatch):
    monkeypatch.setattr(supervisor, "command_of", lambda *_: ["sleep", "600"])
    monkeypatch.setattr(server, "is_up", lambda _: True)
    levels = {}
    watched = Supervisor(
        settings.model_copy(update={"soft_shutdown_seconds": 0.0}), (BATCH, KEEPER)
    )

    def note_levels():
        here = os.getpriority(os.PRIO_PROCESS, 0)
        for child in watched._children:
            levels[child.role] = os.getpriority(os.PRIO_PROCESS, child.process.pid) - here
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(watched, "_beat", note_levels)
    watched.run()
    assert levels[KEEPER] == 0
    assert levels[BATCH] > 0


@pytest.mark.parametrize(
    "roles",
    [
        (SERVER,),
        pytest.param((SERVER, BATCH), marks=pytest.mark.long(reason="it starts two workers")),
    ],
    ids=["server", "workers"],
)
def test_a_second_supervisor_shares_the_folder_and_takes_the_place_of_the_first(settings, roles):
    """Given two supervisors in one folder, Then there is one server, and workers of both."""
    with closing(connect(settings)) as client:  # noqa: SIM117
        with local_cluster(settings, roles=roles) as first:
            with beginning_cluster(settings, roles=roles) as ready:
                second, workers = ready(), len(roles) - 1
                wait_for(lambda: len(living_workers(client, settings)) == 2 * workers)
                served_by = pid_of(settings, SERVER)
                assert supervisor_state(settings)["supervisor_pid"] == first.pid
                first.send_signal(signal.SIGTERM)
                wait_for(
                    lambda: SERVER in roles_of(settings) and pid_of(settings, SERVER) != served_by
                )
                assert supervisor_state(settings)["supervisor_pid"] == second.pid
                wait_for(lambda: server.is_up(settings))
                wait_for(lambda: len(living_workers(client, settings)) == workers)
    assert not server.is_up(settings)


def test_work_in_progress_does_not_fail_when_the_owner_of_workers_ends(settings):
    with local_cluster(settings, roles=(SERVER,)), closing(connect(settings)) as client:
        with local_cluster(settings, roles=(SERVER, BATCH)):
            wait_for(lambda: living_workers(client, settings))
            (worker,) = living_workers(client, settings)
        assert exit_of(client, settings, worker) == LEFT


def test_a_supervisor_on_standby_starts_nothing_until_the_other_ends(settings):
    with local_cluster(settings, roles=(SERVER,)) as first:  # noqa: SIM117
        with beginning_cluster(settings, roles=(SERVER,), standby=True) as ready:
            ready()
            assert supervisor_state(settings)["supervisor_pid"] == first.pid
            first.send_signal(signal.SIGTERM)
            wait_for(lambda: (supervisor_state(settings) or {}).get("supervisor_pid") != first.pid)
            wait_for(lambda: server.is_up(settings))


def test_a_process_with_a_folder_of_its_own_joins_the_server_next_to_the_lake(settings, tmp_path):
    own = settings.model_copy(update={"var_dir": tmp_path / "own"})
    assert server.joined(own) is own, "no server runs"
    with local_cluster(settings, roles=(SERVER,)):
        joined = server.joined(own)
        assert server.address(joined) == str(settings.socket_path)
        assert not server.is_embedded(joined)
        assert server.joined(settings) is settings
