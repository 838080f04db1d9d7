"""Read systemd units: their lines and variables."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "infra/systemd").iterdir())


def lines_of(text: str, key: str) -> list[list[str]]:
    """Return the words of each line of a unit that begins with a key."""
    return [shlex.split(line) for line in re.findall(rf"^{key}=(.+)$", text, re.MULTILINE)]


def environment(text: str) -> dict[str, str]:
    """Return the variables that a unit sets."""
    (words,) = lines_of(text, "Environment")
    return dict(word.split("=", 1) for word in words)
