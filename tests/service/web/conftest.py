"""One service over a lake of sample boards, and one browser, for all tests of the page."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

from nightgrid.service.cli.app import main
from nightgrid.service.games.plug import SAMPLES
from tests.chromium import chromium
from tests.service.scenes import environment
from tests.shares import share_of

DAYS = {"pips": ("2026-01-01", "2026-01-02", "2026-01-05"), "strands": ("2026-01-01",)}
"""Contents of the lake, counted by a night."""
LATER = "2026-01-04"
"""A day of Letter Boxed that is fetched and not solved."""
WIDTH, HEIGHT = 1280, 860
NETWORK_CHANGED = "ERR_NETWORK_CHANGED"
"""Tests of containers create network devices, upon which Chromium cancels its requests."""
OPENED_TRIES = 5
END_S = 30
WAIT_MS = 90_000
"""Generous for a loaded machine; passing tests take less. The first page of a service is shown
while its processes load the games, which has taken 30 s on a slow machine with other tests."""
TEXT = "document.documentElement.innerText?.slice(0, 500) ?? ''"
"""A script that returns the visible text of a page; nothing for a picture."""


@pytest.fixture(scope="session")
def page_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with a night of boards of Pips and Strands."""
    folder = tmp_path_factory.mktemp("page")
    words = []
    for game, days in DAYS.items():
        (folder / game).mkdir()
        for day in days:
            shutil.copy(SAMPLES / game / f"{day}.json", folder / game)
        words += ["--source", f"{game}={folder / game}"]
    lake = str(folder / "lake")
    assert main(("nightly", *words, "--lake", lake, "--inline", "--no-prefect")) == 0
    return folder / "lake"


SHARED = ExitStack()
"""What is started once for the folder."""
STARTED: dict[str, Any] = {}


def shared(name: str, start: Callable[[], AbstractContextManager[Any]]) -> Any:
    """Start something for the first test that needs it."""
    if name not in STARTED:
        STARTED[name] = SHARED.enter_context(start())
    return STARTED[name]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End all of it after the last test of the folder: others need the event loop."""
    try:
        return (yield)
    finally:
        if nextitem is None or share_of(nextitem.nodeid) != share_of(item.nodeid):
            STARTED.clear()
            SHARED.close()


@pytest.fixture(scope="session")
def shared_python(warm_python: Path) -> Iterator[Path]:
    """The warm interpreter, which outlives the service even after the last test of all."""
    yield warm_python
    SHARED.close()


@pytest.fixture(scope="module")
def service(page_lake: Path, shared_python: Path) -> str:
    """The address of `nightgrid serve` with a worker for each queue."""
    url: str = shared("service", partial(serving, page_lake, shared_python))
    return url


@contextmanager
def serving(lake: Path, python: Path) -> Iterator[str]:
    """Run a service in forks of an interpreter; give its address."""
    words = ["serve", "--port", "0", "--json", "--processes", "1", "--interactive", "1"]
    with subprocess.Popen(
        [str(python), "-m", "nightgrid.service.cli.app", *words, "--lake", str(lake)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=lake.parent,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"].rstrip("/")
        process.send_signal(signal.SIGINT)
        assert process.wait(END_S) == 0


@pytest.fixture(scope="module")
def browser() -> Browser:
    """A Chromium, started once."""
    found: Browser = shared("browser", running_browser)
    return found


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Run Chromium."""
    program = chromium()
    # It is shown nothing but the page, and refuses to run as root with a sandbox.
    how = {"executable_path": program, "args": ["--no-sandbox"]}
    with sync_playwright() as playwright, playwright.chromium.launch(**how) as found:
        yield found


@pytest.fixture
def opened(service: str, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open the page at an address. No request may leave the service, and no script may fail."""
    contexts: list[BrowserContext] = []
    strays: list[str] = []
    failed: list[str] = []
    unanswered: dict[Request, str] = {}

    def see(request: Request) -> None:
        at = urlsplit(request.url)
        unanswered[request] = request.url
        if at.scheme not in ("blob", "data") and f"{at.scheme}://{at.netloc}" != service:
            strays.append(request.url)

    def open_page(place: str = "/", **how: object) -> Page:
        settings = {"viewport": {"width": WIDTH, "height": HEIGHT}, "reduced_motion": "reduce"}
        context = browser.new_context(base_url=service, **settings | how)  # type: ignore[arg-type]
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("request", see)
        interrupted: list[str] = []

        def tell(one: Request) -> None:
            # Shown if the test fails.
            print("failed:", one.url, one.failure)
            if NETWORK_CHANGED in str(one.failure):
                interrupted.append(one.url)

        page.on("requestfailed", tell)
        for over in ("requestfinished", "requestfailed"):
            page.on(over, lambda one: unanswered.pop(one, None))
        page.on("response", lambda one: print(one.status, one.url) if not one.ok else None)
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.on(
            "console",
            lambda told: failed.append(told.text) if "Content Security" in told.text else None,
        )
        for _ in range(OPENED_TRIES):
            interrupted.clear()
            page.goto(place)
            if not interrupted:
                break
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            print(page.url, page.title(), page.evaluate(TEXT), sep="\n")
    print("unanswered:", *unanswered.values())
    for context in contexts:
        context.close()
    assert strays == [], "every request goes to the service"
    assert failed == []
