"""How long a client wants to wait for an answer: the header Prefer (RFC 7240)."""

from __future__ import annotations

import re

WAIT_MAX_S = 60.0
"""The longest that one request waits."""
_WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,6}(?:\.\d{1,3})?)\"?")


def wait_of(prefer: list[str]) -> float:
    """Read how many seconds a request may wait, 0 where it does not say.

    Preferences are no demands: what cannot be read is passed over.
    """
    parts = [part.strip().lower() for text in prefer for part in re.split(r"[,;]", text)]
    if "respond-async" in parts and not any(_WAIT.fullmatch(part) for part in parts):
        return 0.0
    waits = [float(found[1]) for part in parts if (found := _WAIT.fullmatch(part))]
    return min(waits[0], WAIT_MAX_S) if waits else 0.0
