"""What cannot be served on a schedule is told in one sentence, and no process is begun."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from nightgrid.flows.night.settings import NightSettings
from nightgrid.workers.cluster import probe
from nightgrid.workers.cluster.heartbeats import NIGHTS_LIVE, NIGHTS_READY, write_heartbeat
from nightgrid.workers.runs.retry import Retry


@pytest.fixture(scope="module", autouse=True)
def _prefect() -> None:
    """Load Prefect here: each process that collects the tests would take seconds for it."""
    global deploy, PREFECT_API_URL, temporary_settings
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from nightgrid.flows.prefect import deploy


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("NIGHTGRID_LAKE", str(tmp_path / "lake"))
    # The handler of SIGTERM is this process's.
    monkeypatch.setattr("nightgrid.flows.prefect.deploy.signal.signal", lambda *_: None)
    monkeypatch.setattr(
        "prefect.server.api.server.SubprocessASGIServer.start",
        lambda *_: pytest.fail("a temporary server"),
    )


@pytest.mark.parametrize(
    ("words", "server", "code", "sentence"),
    [
        (["--source", "nowhere"], None, 3, "source 'nowhere' is not a folder"),
        (["--source", ".", "--cron", "at night"], None, 3, "--cron is 'at night'; expected five"),
        (["--source", "."], None, 3, "no Prefect server is named that can schedule; expected"),
        (["--source", "."], "http://127.0.0.1:9/api", 1, "http://127.0.0.1:9/api does not answer"),
        (["--source", "tiles=x", "--source", "tiles=y"], None, 3, "tiles has two sources"),
        (["--source", ".", "--retry", "poison"], None, 3, "no Prefect server is named"),
    ],
)
def test_what_cannot_be_scheduled_is_one_sentence(
    words: list[str],
    server: str | None,
    code: int,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["deploy", *words])
    with (
        temporary_settings(updates={PREFECT_API_URL: server} if server else {}),
        pytest.raises(SystemExit) as ended,
    ):
        deploy.main()
    out, err = capsys.readouterr()
    assert ended.value.code == code
    assert out == ""
    assert sentence in err
    assert err.startswith("python -m nightgrid.flows.prefect.deploy: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("word", [None, "poison", "over_budget", "invalid", "all"])
def test_what_is_worked_again_is_asked_of_every_night(
    word: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Given --retry, Then each night of the schedule is told so."""
    served: list[NightSettings] = []

    def keep(night: NightSettings, **_: str) -> None:
        served.append(night)

    monkeypatch.setattr(deploy, "serve", keep)
    given = ["--retry", word] if word else []
    monkeypatch.setattr("sys.argv", ["deploy", "--source", str(tmp_path), *given])
    deploy.main()
    assert [night.retry for night in served] == [Retry(word) if word else None]


@pytest.mark.parametrize(("asked_s", "ready"), [(None, False), (3600, False), (1, True)])
def test_the_schedule_is_ready_while_its_server_tells_which_nights_are_due(
    tmp_path: Path, asked_s: float | None, ready: bool
) -> None:
    """Given a loop that goes round, Then it is live; ready it is by the server's last answer."""
    then = None if asked_s is None else datetime.now(UTC) - timedelta(seconds=asked_s)
    # Of a process before this one.
    write_heartbeat(tmp_path, NIGHTS_READY)

    async def beat() -> None:
        told = asyncio.create_task(
            deploy._tell_progress(SimpleNamespace(last_polled=then), tmp_path)
        )
        await asyncio.sleep(0)
        told.cancel()
        with suppress(asyncio.CancelledError):
            await told

    asyncio.run(beat())
    assert probe.probe(tmp_path, NIGHTS_LIVE) == ""
    assert (probe.probe(tmp_path, NIGHTS_READY) == "") == ready
