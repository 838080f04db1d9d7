"""Unpublished days of Letter Boxed: one board whose letters are shifted by the day."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

SIDES = ("TAL", "ERD", "NIP", "YCO")
WORDS = ("RADICLE", "ENTROPY", "CANDLE", "POLICE", "PRANCE", "PYRITE", "RADIO", "CRANE", "ONE")
OFFICIAL = ("RADICLE", "ENTROPY")
FIRST = dt.date(2026, 1, 1)


def turned(text: str, by: int) -> str:
    """Shift every letter in the alphabet, for another board that is no harder to solve."""
    return "".join(chr((ord(letter) - ord("A") + by) % 26 + ord("A")) for letter in text)


def letter_day(number: int = 0, **changes: Any) -> dict[str, Any]:
    """Make the payload of a day, numbered from 0, as the page holds it."""
    date = FIRST + dt.timedelta(days=number)
    yesterday = date - dt.timedelta(days=1)
    payload = {
        "id": 7000 + number,
        "expiration": int(dt.datetime.combine(date, dt.time(), dt.UTC).timestamp()) + 111600,
        "ourSolution": [turned(word, number) for word in OFFICIAL],
        "printDate": str(date),
        "sides": [turned(side, number) for side in SIDES],
        "date": f"{date:%B} {date.day}, {date.year}",
        "dictionary": [turned(word, number) for word in WORDS],
        "par": 4 + number % 3,
        "yesterdaysSolution": [turned(word, number - 1) for word in OFFICIAL],
        "yesterdaysSides": [turned(side, number - 1) for side in SIDES],
        "isFree": False,
        "editor": "nightgrid",
        "editorImage": f"https://example.org/{yesterday}.png",
    }
    return payload | changes


def write_days(folder: Path, count: int, changes: dict[int, dict[str, Any]] | None = None) -> Path:
    """Write the payloads of the first days; `changes` maps numbers of days to differences."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        payload = letter_day(number, **(changes or {}).get(number, {}))
        date = FIRST + dt.timedelta(days=number)
        (folder / f"{date}.json").write_text(json.dumps(payload), encoding="utf-8")
    return folder
