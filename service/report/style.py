"""The style of a report, and the policy under which browsers show it."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from nightgrid.service.drawing.colours import NAMES

_HERE = Path(__file__).parent
_FONTS = {
    "Bricolage Grotesque": "bricolage-grotesque.woff2",
    "Instrument Sans": "instrument-sans.woff2",
}
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def style_hash(style: str) -> str:
    """Write the source by which a content security policy allows a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


def policy_of(page: str) -> str:
    """Write the policy under which a report is served: its own style, its own fonts, no more."""
    style = _STYLE.search(page)
    allowed = style_hash(style[1]) if style else "'none'"
    return (
        f"default-src 'none'; style-src {allowed}; font-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


@cache
def page_style() -> str:
    """Write the style sheet with its fonts inside, and the colours of boards."""
    fonts = "".join(
        f'@font-face{{font-family:"{name}";font-weight:200 800;font-display:swap;'
        f'src:url(data:font/woff2;base64,{_font(file)}) format("woff2")}}\n'
        for name, file in _FONTS.items()
    )
    colours = "".join(
        f".board .fill-{name},.board.fill-{name}{{fill:var(--b-{name})}}"
        f".board .stroke-{name}{{stroke:var(--b-{name})}}\n"
        for name in NAMES.values()
    )
    return fonts + (_HERE / "report.css").read_text("utf-8") + colours


def _font(file: str) -> str:
    data = (_HERE.parent / "web" / "static" / "fonts" / file).read_bytes()
    return base64.b64encode(data).decode()
