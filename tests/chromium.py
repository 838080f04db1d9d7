"""SVG pictures measured in a real Chromium: where their characters, texts and curves really stand.

One start of the browser measures any number of pictures. Each is read as XML and laid out in a
shadow tree, so that no picture's style reaches another, and decoded as an `<img>` as well, which
is how pages show it: without scripts, outside files, or fonts that the machine lacks.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS_MAX = 60
INSTALL = "install it with `apt-get install chromium`, or name its program in CHROMIUM"


class Text(TypedDict):
    """A text that is laid out as one piece. Places are (x, y) in units of the viewBox."""

    text: str
    shown: int
    """Characters that are laid out; blanks that were collapsed are not."""
    slid: float
    """How far its start is from where the source has it."""
    chars: list[tuple[float, float]]
    """Where each character starts, on the base line."""
    box: tuple[float, float, float, float]
    """Left, top, right, bottom."""
    ink: bool
    """Whether something stands in the box when the picture is shown as an `<img>`."""


class Measured(TypedDict):
    """What the browser makes of a picture."""

    error: str
    """Why it is no picture; empty for one that is."""
    sized: bool
    """Whether it says how large it is."""
    width: float
    height: float
    texts: list[Text]
    outside: list[str]
    """Figures that reach out of the viewBox."""
    covered: list[str]
    """Legends with curves behind them."""


def chromium() -> str:
    """Find the browser; without one, the test fails in CI and is skipped elsewhere."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"there is no Chromium to render pictures in: {INSTALL}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def measured(pictures: Mapping[str, str], folder: Path) -> dict[str, Measured]:
    """Render SVG texts by name; `folder` is for the page and the browser's own files."""
    page = folder / "pictures.html"
    # A "<" would end the script where a picture has a tag of that name.
    given = json.dumps(dict(pictures)).replace("<", "\\u003c")
    page.write_text(_PAGE.replace("PICTURES", given), encoding="utf-8")
    done = subprocess.run(
        [
            chromium(),
            "--headless",
            # It is shown nothing but the page above, and refuses to run as root with one.
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-extensions",
            f"--user-data-dir={folder / 'profile'}",
            "--virtual-time-budget=60000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS_MAX,
        check=False,
    )
    _, begun, rest = done.stdout.partition('<pre id="measured">')
    text = html.unescape(rest.partition("</pre>")[0])
    assert begun, f"Chromium ended with {done.returncode}: {done.stderr[-2000:]}"
    assert text.startswith("{"), text
    found: dict[str, Any] = json.loads(text)
    return found


_PAGE = """<!doctype html><meta charset="utf-8"><body style="margin:0"><script>
const pictures = PICTURES;
const FIGURES = "rect, circle, ellipse, path, polyline, polygon, line, use";
const SAMPLES = 400;

function corners(element, origin) {
  const box = element.getBBox(), at = element.getScreenCTM();
  const ends = [[0, 0], [1, 0], [0, 1], [1, 1]].map(([i, j]) =>
    new DOMPoint(box.x + i * box.width, box.y + j * box.height).matrixTransform(at));
  const xs = ends.map(p => p.x - origin.x), ys = ends.map(p => p.y - origin.y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

function read_text(element, origin) {
  const at = element.getScreenCTM(), chars = [];
  const shown = element.getNumberOfChars();
  for (let i = 0; i < shown; i++) {
    const start = element.getStartPositionOfChar(i);
    const p = new DOMPoint(start.x, start.y).matrixTransform(at);
    chars.push([p.x - origin.x, p.y - origin.y]);
  }
  const x = element.getAttribute("x"), starts = getComputedStyle(element).textAnchor === "start";
  const slid = x !== null && starts ? element.getStartPositionOfChar(0).x - Number(x) : 0;
  return {text: element.textContent, shown, slid, chars, box: corners(element, origin)};
}

function covered(legend, root, origin) {
  const [left, top, right, bottom] = corners(legend, origin);
  return [...root.querySelectorAll("g[id^=line2d] > path[clip-path]")].some(curve => {
    const at = curve.getScreenCTM(), length = curve.getTotalLength();
    for (let i = 0; i <= SAMPLES; i++) {
      const p = curve.getPointAtLength(length * i / SAMPLES).matrixTransform(at);
      const x = p.x - origin.x, y = p.y - origin.y;
      if (left < x && x < right && top < y && y < bottom) return true;
    }
    return false;
  });
}

async function as_image(svg, width, height) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], {type: "image/svg+xml"}));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width), Math.ceil(height)];
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  pen.drawImage(image, 0, 0, width, height);
  return ([left, top, right, bottom]) => {
    const x = Math.max(0, Math.floor(left)), y = Math.max(0, Math.floor(top));
    const {data} = pen.getImageData(x, y, Math.max(1, Math.ceil(right) - x),
      Math.max(1, Math.ceil(bottom) - y));
    const first = data.slice(0, 4).join();
    for (let i = 4; i < data.length; i += 4) if (data.slice(i, i + 4).join() !== first) return true;
    return false;
  };
}

async function measure(svg) {
  const read = new DOMParser().parseFromString(svg, "image/svg+xml");
  const fault = read.querySelector("parsererror");
  if (fault) return {error: fault.textContent};
  const root = document.importNode(read.documentElement, true);
  const [,, width, height] = root.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  const sized = root.hasAttribute("width") && root.hasAttribute("height");
  root.setAttribute("width", width);
  root.setAttribute("height", height);
  const host = document.createElement("div");
  host.style = "all: initial; position: absolute; left: 0; top: 0";
  host.attachShadow({mode: "open"}).append(root);
  document.body.append(host);
  const origin = root.getBoundingClientRect();
  const texts = [...root.querySelectorAll("text, tspan")].filter(
    e => !e.querySelector("tspan") && e.textContent.trim()).map(e => read_text(e, origin));
  const figures = [...root.querySelectorAll(FIGURES)].filter(e => !e.closest("defs, clipPath"));
  const outside = figures.filter(e => {
    const [left, top, right, bottom] = corners(e, origin);
    return left < -1 || top < -1 || right > width + 1 || bottom > height + 1;
  }).map(e => e.outerHTML.slice(0, 120));
  const legends = [...root.querySelectorAll("g[id^=legend]")];
  const hidden = legends.filter(e => covered(e, root, origin)).map(e => e.id);
  host.remove();
  const inked = await as_image(svg, width, height);
  for (const text of texts) text.ink = inked(text.box);
  return {error: "", sized, width, height, texts, outside, covered: hidden};
}

(async () => {
  const told = document.createElement("pre");
  told.id = "measured";
  try {
    const found = {};
    for (const [name, svg] of Object.entries(pictures)) found[name] = await measure(svg);
    told.textContent = JSON.stringify(found);
  } catch (error) {
    told.textContent = `failed: ${error.stack}`;
  }
  document.body.append(told);
})();
</script>
"""
