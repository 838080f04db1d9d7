"""`nightgrid serve` prints the page's address, and stops what it has started."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game
from tests.service.scenes import environment

END_S = 30
LARGE = game("pips").puzzle_to_json(
    generate(replace(PRESETS["loose"], dominoes=((22, 1.0),)), 1)[0]
)
"""A board that no process of the service solves by itself."""


def test_ctrl_c_ends_the_service_and_a_second_one_cuts_no_answer(tmp_path: Path) -> None:
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
        with ThreadPoolExecutor(1) as pool:
            # No worker solves it: the client waits until the service ends.
            waiting = pool.submit(
                httpx.post,
                f"{told['url']}v1/solves",
                json={"puzzle": LARGE, "ask": "count"},
                headers={"Prefer": "wait=60"},
                timeout=2 * END_S,
            )
            while not httpx.get(f"{told['url']}v1/queue", timeout=END_S).json()["waiting"]:
                time.sleep(0.1)
            for _ in range(2):
                process.send_signal(signal.SIGINT)
            assert waiting.result().status_code == 202
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
            "address already in use; choose another --port, or 0 for any free one\n",
        ),
        (["--lake", ""], 3, "--lake is empty"),
    ],
)
def test_invalid_serve_options_are_refused_in_one_sentence(
    invoke: Callable[..., tuple[int, str, str]], words: list[str], code: int, told: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        found, out, err = invoke("serve", "--no-workers", *(w.format(taken=taken) for w in words))
    assert found == code
    assert told.format(taken=taken) in err
    assert out == ""
    assert "Traceback" not in err
