"""Make the bundled Strands archive: boards of the project's own, from the words below.

`python -m service.sampling FOLDER` writes FOLDER/DATE.json; the same everywhere.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from solvers.strands.generator import generate, to_payload

FOLDER = Path(__file__).with_name("sample") / "strands"
START = dt.date(2026, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The words of a board. `parts` are those of which the spangram is run together."""

    clue: str
    parts: tuple[str, ...]
    theme_words: tuple[str, ...]
    coordinates: bool = True
    """Whether the payload says where the words lie; published ones do not always."""


THEMES = (
    Theme(
        clue="Take an umbrella",
        parts=("WEATHER", "REPORT"),
        theme_words=("CLOUD", "STORM", "BREEZE", "DRIZZLE", "THUNDER", "SLEET"),
    ),
    Theme(
        clue="In the second drawer",
        parts=("KITCHEN", "TOOLS"),
        theme_words=("COLANDER", "WHISK", "LADLE", "GRATER", "TONGS", "SPATULA"),
    ),
    Theme(
        clue="Watch the stick",
        parts=("ORCHESTRA",),
        theme_words=("VIOLIN", "VIOLA", "CELLO", "FLUTE", "OBOE", "TRUMPET", "BASSOON"),
    ),
    Theme(
        clue="Lights out",
        parts=("STARRY", "NIGHT"),
        theme_words=("COMET", "PLANET", "METEOR", "GALAXY", "NEBULA", "MOON", "MARS"),
        coordinates=False,
    ),
    Theme(
        clue="Anyone can help",
        parts=("OPEN", "SOURCE"),
        theme_words=("COMPILER", "COMMIT", "RELEASE", "LICENSE", "MERGE", "PATCH"),
    ),
)


def payloads() -> dict[dt.date, str]:
    """Write the text of every payload, by date."""
    texts = {}
    for number, theme in enumerate(THEMES):
        date = START + dt.timedelta(days=number)
        puzzle, cover = generate("".join(theme.parts), theme.theme_words, date.toordinal())
        value = to_payload(date, puzzle, cover, theme.clue)
        if not theme.coordinates:
            value |= {"themeCoords": None, "spangramCoords": None}
        texts[date] = json.dumps(value, separators=(",", ":")) + "\n"
    return texts


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    out.mkdir(parents=True, exist_ok=True)
    for day, content in payloads().items():
        (out / f"{day}.json").write_text(content, encoding="ascii")
