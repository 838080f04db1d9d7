"""`nightgrid serve` says where the page is, and ends what it has started."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.service.scenes import environment

END_S = 30


def test_ctrl_c_ends_the_service(tmp_path: Path) -> None:
    words = ["serve", "--port", "0", "--no-workers", "--json", "--lake", "lake"]
    with subprocess.Popen(
        [sys.executable, "-m", "nightgrid.service.cli.app", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert httpx.get(f"{told['url']}healthz", timeout=END_S).status_code == 200
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=END_S)
    assert process.returncode == 0
    assert f"the page is at {told['url']}" in err
    assert "Traceback" not in err
    assert Path(told["lake"]) == tmp_path / "lake"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--host", "256.1.1.1"], 3, "--host is '256.1.1.1'; expected an address"),
        (["--port", "70000"], 3, "--port"),
        (
            ["--port", "{taken}"],
            1,
            "address already in use; choose another --port, or 0 for any that is free\n",
        ),
        (["--lake", ""], 3, "--lake is empty"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(
    invoke: Callable[..., tuple[int, str, str]], words: list[str], code: int, told: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        found, out, err = invoke("serve", "--no-workers", *(w.format(taken=taken) for w in words))
    assert found == code
    assert told.format(taken=taken) in err
    assert out == ""
    assert "Traceback" not in err
