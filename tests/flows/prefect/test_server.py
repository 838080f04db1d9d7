"""Prefect's environment and its temporary server."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nightgrid.flows.prefect import server

CODE = "import signal as s; print(s.SIGINT in s.pthread_sigmask(s.SIG_BLOCK, ()))"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "127.0.0.1,localhost,::1"),
        ("example.org, localhost", "example.org,localhost,127.0.0.1,::1"),
        ("*", "*"),
    ],
)
def test_loopback_is_reached_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, before)
    server.set_environment()
    assert (os.environ["no_proxy"], os.environ["NO_PROXY"]) == (after, after)


@pytest.mark.slow
@pytest.mark.prefect
def test_a_temporary_server_that_does_not_start_is_one_sentence_and_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import prefect.server.api.server as api

    begun: list[subprocess.Popen[bytes]] = []

    def mute(_: object) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
        return begun[-1]

    monkeypatch.setattr(server, "SERVER_START_S", 1.0)
    monkeypatch.setattr(api.SubprocessASGIServer, "_run_uvicorn_command", mute)
    with pytest.raises(server.NoServerError, match="did not start within 1 s"):
        server.start_temporary_server()
    assert begun
    assert all(process.poll() is not None for process in begun)


@pytest.mark.slow
@pytest.mark.prefect
def test_ctrl_c_of_a_terminal_does_not_reach_the_temporary_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import prefect.server.api.server as api

    deaf: list[bytes] = []
    monkeypatch.setattr(
        api.SubprocessASGIServer,
        "start",
        lambda *_, **__: deaf.append(subprocess.check_output([sys.executable, "-c", CODE])),
    )
    server.start_temporary_server()
    assert deaf == [b"True\n"]


@pytest.mark.prefect
def test_a_named_server_that_does_not_answer_is_one_sentence() -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    url = "http://127.0.0.1:9/api"
    with (
        temporary_settings(updates={PREFECT_API_URL: url}),
        pytest.raises(server.NoServerError, match=f"at {url} does not answer .*refused"),
    ):
        server.check_named_server()
    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        assert not server.check_named_server()
