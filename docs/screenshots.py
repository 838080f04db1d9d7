"""Photograph the page of `nightgrid serve` over the bundled archive, for README and the docs.

Run from the clone's top folder: `.venv/bin/python docs/screenshots.py [NAME]...`. It needs Chromium
(`apt-get install chromium`, or its program in CHROMIUM), makes a lake in a temporary folder, and
writes docs/pictures/page-*.png.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
NIGHTGRID = [sys.executable, "-m", "nightgrid.service.cli.app"]
PNG = b"\x89PNG\r\n\x1a\n"
DESK = {"viewport": {"width": 1240, "height": 780}}
TALL = {"viewport": {"width": 1240, "height": 960}}
PHONE = {"viewport": {"width": 360, "height": 740}}
SHOWN = ".plate svg, .plate [role=grid], .cards, tbody tr"
"""Elements of a loaded page."""
WAIT_MS = 120_000
"""Kernels may have to be compiled first."""


def solved(page: Page, ask: str) -> None:
    """Ask about the board that is shown, and wait for a solution."""
    page.get_by_text(ask, exact=True).click()
    page.get_by_role("button", name="Solve", exact=True).click()
    expect(page.get_by_role("group", name="Solutions")).to_be_visible()
    expect(page.locator(".count")).to_be_visible()
    solution = page.locator("svg.board").locator(".domino, .stroke-gold, .stroke-pen-1")
    expect(solution.first).to_be_attached()


def stepped(page: Page) -> None:
    """Show the solution of a chain of words up to one of its strokes."""
    solved(page, "Best")
    page.locator("#steps").fill("9")


def drawn(page: Page) -> None:
    """Draw a board of Pips that is not finished."""
    for number, cells in enumerate((("1,2", "1,3", "1,4"), ("2,2", "3,2"), ("2,3", "2,4", "3,3"))):
        page.get_by_role("button", name="New region").click()
        for cell in cells:
            page.locator(f"[data-at='{cell}']").click()
        page.get_by_label(f"Number of region {number + 2}").fill(("12", "7", "")[number])
    for domino in ("1-3", "4-6", "5-5"):
        page.get_by_role("button", name=domino, exact=True).click()


def played(page: Page) -> None:
    """Play three words of a board of Strands by hints, and have a fourth shown."""
    for name in ("Hint", "Play the hint") * 3 + ("Hint",):
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator(".is-hint").first).to_be_visible()


SHOTS: dict[str, tuple[str, dict[str, object], Callable[[Page], None]]] = {
    "page-pips": ("/?board=pips/2026-01-29/hard", DESK, lambda page: solved(page, "Count")),
    "page-strands-dark": (
        "/?board=strands/2026-01-01/daily",
        {"viewport": {"width": 1200, "height": 700}, "color_scheme": "dark"},
        lambda page: solved(page, "Best"),
    ),
    "page-play": ("/?board=strands/2026-01-01/daily&play=", TALL, played),
    "page-browse": ("/browse?game=pips&sort=-states", DESK, lambda _page: None),
    "page-draw": ("/?draw=pips", TALL, drawn),
    "page-report": ("/report", TALL, lambda _page: None),
    "page-phone": ("/?board=letterboxed/2026-01-01/daily", PHONE, stepped),
}
"""Where the page is opened, how, and what is done there."""


def compressed(png: bytes) -> bytes:
    """Compress the pixels of a PNG as well as zlib can: a browser does not take the time."""
    chunks, at = [], len(PNG)
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        chunks.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + size]))
        at += 12 + size
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    best = zlib.compressobj(9, zlib.DEFLATED, 15, 9)
    rest = [(kind, data) for kind, data in chunks if kind in (b"IHDR", b"IEND")]
    rest.insert(1, (b"IDAT", best.compress(pixels) + best.flush()))
    return PNG + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in rest
    )


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a lake of the bundled archive; gives the address."""
    lake = str(folder / "lake")
    words = ["nightly", "--source", "service/sample", "--lake", lake, "--inline", "--no-prefect"]
    subprocess.run([*NIGHTGRID, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    serve = [*NIGHTGRID, "serve", "--port", "0", "--json", "--lake", lake]
    with subprocess.Popen(serve, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"].rstrip("/")
        process.send_signal(signal.SIGINT)


def main(names: list[str]) -> None:
    """Take the pictures of these names, or all of them."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in names or SHOTS:
            place, how, act = SHOTS[name]
            page = browser.new_context(base_url=url, reduced_motion="reduce", **how).new_page()
            page.set_default_timeout(WAIT_MS)
            expect.set_options(timeout=WAIT_MS)
            page.goto(place)
            expect(page.locator(SHOWN).first).to_be_visible()
            act(page)
            # The pointer and the focus are not part of what is shown.
            page.mouse.move(0, 0)
            page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
            page.wait_for_timeout(500)
            path = PICTURES / f"{name}.png"
            path.write_bytes(compressed(page.screenshot()))
            print(f"{path.name}: {path.stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
