"""HTML out of values: what is no element is escaped, so that no text of a payload becomes one."""

from __future__ import annotations

from html import escape

VOID = frozenset({"meta", "link", "br"})
"""Elements without content."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *content: object, **attributes: object) -> Html:
    """Make an element. `class_` is class, `aria_label` is aria-label; None leaves one out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_printable(str(value)), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{joined(*content)}</{name}>")


def joined(*content: object) -> Html:
    """Write contents one after the other; lists are taken apart, None is nothing."""
    written = []
    for one in content:
        if isinstance(one, Html):
            written.append(str(one))
        elif isinstance(one, list | tuple):
            written.append(joined(*one))
        elif one is not None:
            written.append(escape(_printable(str(one)), quote=False))
    return Html("".join(written))


def _printable(text: str) -> str:
    """Replace what browsers may take for markup or show as nothing: control characters."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
