"""Archives as people keep them: every row of the table of a how-to page, for every command."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from nightgrid.archive.corpus.corpus import open_corpus
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.payloads.published import Fault
from nightgrid.archive.sources import open_source
from nightgrid.flows.night.settings import night_sources
from nightgrid.service.options.reading import read_sources
from nightgrid.solvers.errors import PermanentError
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "how-to" / "bring-your-own-archive.md").read_text()
TABLE = dict(re.findall(r"^\| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)[1:])
DAYS = ("2026-01-01", "2026-01-02")
Files = dict[str, bytes]
PIPS, LETTERS = (
    [(ROOT / "service" / "sample" / game / f"{day}.json").read_bytes().strip() for day in DAYS]
    for game in ("pips", "letterboxed")
)
BOARDS = {"pips": 6, "letterboxed": 2}
LINES = [json.dumps(json.loads(body)).encode() for body in (*PIPS, *LETTERS)]


def named(pattern: str, bodies: list[bytes] = PIPS) -> Files:
    dates = [(day, day.replace("-", ""), day.replace("-", "/")) for day in DAYS]
    return {pattern.format(*date): body for date, body in zip(dates, bodies, strict=True)}


def one(text: str) -> Files:
    """Make one file, in which each %s is a day."""
    return {"x.json": text.encode() % tuple(PIPS[: text.count("%s")])}


ARCHIVES = {
    "`2026-01-01.json`": named("{0}.json"),
    "`20260101.json`": named("{1}.json"),
    "`pips-2026-01-01.json`": named("pips-{0}.json"),
    "`2026/01/2026-01-01.json`": named("2026/01/{0}.json"),
    "`2026/01/01.json`": named("{2}.json"),
    "`pips/…`, `letter-boxed/…`": named("pips/{0}.json") | named("letter-boxed/{0}.json", LETTERS),
    "a clone: `.git/`, `package.json`, `data/pips/…`": named("data/pips/{0}.json")
    | {".git/x.json": b"{", "package.json": b'{"name": "mine"}', "README.md": b"Mine"},
    "`a.json`, `b.json`": {"a.json": PIPS[0], "b.json": PIPS[1]},
    "`2026-01-01.json.gz`": named("{0}.json.gz", [gzip.compress(body) for body in PIPS]),
    "`[{…}, {…}]`": one("[%s,\n%s]\n"),
    '`{"2026-01-01": {…}, …}`': one('{"2026-01-01": %s, "2026-01-02" :%s}'),
    '`{"count": 2, "puzzles": [{…}, {…}]}`': one('{"count": 2, "puzzles": [%s, %s]}'),
    '`{"days": {"20260101": {…}, …}}`': one('{"days": {"20260101": %s, "20260102": %s}}'),
    "`{…}` in each line": {"x.jsonl": b"\n\n".join(LINES[:2])},
    "`{…}` in each line, packed with gzip": {"x.jsonl.gz": gzip.compress(b"\n".join(LINES[:2]))},
    "lines of several games": {"x.json": b"\n".join(LINES)},
    "`2026-01-01.json` with the day 2026-01-02": {"2026-01-01.json": PIPS[1]},
    '`{"grid": ["ABC"]}`': one('{"grid": ["ABC"]}'),
    '`[{"foo": 1}]`': one('[{"foo": 1}]'),
    '`{"broken": tru`': one('{"broken": tru'),
    "a list that is cut off": {"x.json": one("[%s, %s")["x.json"][:-9]},
    "a gzip file that is cut off": {"x.json.gz": gzip.compress(PIPS[0])[:-9]},
    "a gzip file of 129 MiB": {"x.json.gz": gzip.compress(bytes(129 * 2**20), 1)},
}
DAMAGED = {name for name, told in TABLE.items() if not told.endswith(": 2")}


def written(folder: Path, name: str) -> Path:
    """Write an archive; return the folder, or its file if its contents identify it."""
    for path, body in ARCHIVES[name].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(body)
    return folder / path if len(ARCHIVES[name]) == 1 else folder


def test_the_page_has_every_archive() -> None:
    assert TABLE.keys() == ARCHIVES.keys()


@pytest.mark.parametrize("name", sorted(ARCHIVES.keys() - DAMAGED))
def test_every_command_reads_an_archive(tmp_path: Path, name: str) -> None:
    place = str(written(tmp_path / "archive", name))
    lake = Lake.open(str(tmp_path / "lake"))
    sources = night_sources([place])
    found = []
    for game, address in sources.items():
        report = fetch(lake, open_source(address, game=game), game=game)
        found.append(f"{game}: {len(report.new)}")
        bodies = {lake.read_bytes(path) for path in lake.list("raw") if path.endswith(".body")}
        assert set(map(bytes.strip, bodies)) <= {*PIPS, *LETTERS, *LINES}, "as received"
        normalise(lake, game=game)
        assert len(open_corpus(lake, place, game=game).puzzle_ids()) == BOARDS[game]
    assert ", ".join(found) == TABLE[name]
    boards = [(board.game, str(board.item.date)) for board in read_sources([place])]
    assert sorted(boards) == sorted(
        (game, day) for game in sources for day in DAYS * (BOARDS[game] // 2)
    )


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_every_command_reports_faults(tmp_path: Path, name: str) -> None:
    place = str(written(tmp_path / "archive", name))
    told = re.compile(re.escape(TABLE[name]).replace("…", ".*"))
    faults = [str(each.item) for each in read_sources([place]) if isinstance(each.item, Fault)]
    assert faults
    assert all(map(told.fullmatch, faults))
    lake = Lake.open(str(tmp_path / "lake"))
    if "list" in name and "cut" in name:
        assert open_corpus(lake, place).quarantined == 1
    else:
        with pytest.raises(PermanentError, match="holds no valid puzzle"):
            open_corpus(lake, place)
    (source,) = night_sources([place]).items()
    fetch(lake, open_source(source[1], game=source[0]))
    for rule in normalise(lake).quarantined:
        assert rule in ("print-date-mismatch", "not-json")
