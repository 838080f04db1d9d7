"""A lake that grows night by night: what the thousandth night costs beside the fiftieth.

`python -m benchmarks.nights_grow [--nights N] [--s3] [--write]`. Each night finds one new day of
Pips, Strands and Letter Boxed and works it in this process. Told are its seconds, the files that
it opened and its requests. Then what 100 on-demand jobs take on that lake and on a new one.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.counted_lake import Counts, counted
from benchmarks.s3_server import s3_process
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.workers.settings import Settings

GAMES = ("pips", "strands", "letterboxed")
FIRST = "2020-01-01"
KEPT_NIGHTS = 30
"""Nights whose runs are kept, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a night took."""

    number: int
    seconds: float
    counts: Counts


def main() -> int:
    """Work the nights and print what they took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nights_grow")
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--s3", action="store_true", help="on an object store on loopback")
    parser.add_argument("--payloads", type=Path, help="folder of payloads, made before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightgrid-grow-") as place:
        folder = Path(place)
        payloads = options.payloads or folder / "payloads"
        make_payloads(payloads, options.nights)
        with s3_process() if options.s3 else nullcontext("") as server:
            url = lake_url(folder, server)
            nights = []
            for night in grow(payloads, folder / "source", url, folder / "var", options.nights):
                nights.append(night)
                if night.number % 50 == 0 or night.number in (1, 2, 5, 10, 20):
                    print(_line(nights), flush=True)
    return 0


def lake_url(folder: Path, server: str) -> str:
    """Name the lake: a folder, or a bucket on a server."""
    if not server:
        return str(folder / "lake")
    return f"s3://bucket/lake?endpoint_override={server}"


def make_payloads(folder: Path, days: int) -> None:
    """Make payloads of random boards, a file a day and game, as far as they are missing."""
    for game in GAMES:
        if len(list((folder / game).glob("*.json"))) >= days:
            continue
        command = [str(Path(sys.executable).with_name("nightgrid")), "generate", "--game", game]
        command += ["--out", str(folder / game), "--days", str(days), "--start", FIRST]
        subprocess.run([*command, "--seed", "1"], check=True, stdout=subprocess.DEVNULL)


def grow(payloads: Path, source: Path, url: str, var: Path, count: int) -> Iterator[Night]:
    """Work one night after the other, each with one day more in its source."""
    kept_days = 3.0 / 86_400 * KEPT_NIGHTS / 10
    workers = Settings(lake=url, var_dir=var, batch_processes=1, runs_kept_days=kept_days)
    games = tuple(NightGame(game=game, source=str(source / game)) for game in GAMES)
    night = NightSettings(games=games, workers=workers, executor="inline")
    days = {game: sorted((payloads / game).glob("*.json")) for game in GAMES}
    with counted() as counts:
        for number in range(1, count + 1):
            for game in GAMES:
                (source / game).mkdir(parents=True, exist_ok=True)
                shutil.copy(days[game][number - 1], source / game)
            before = counts.copy()
            gc.collect()
            begun = time.perf_counter()
            work_night(night)
            seconds = time.perf_counter() - begun
            yield Night(number=number, seconds=seconds, counts=counts.since(before))


def _line(nights: Sequence[Night]) -> str:
    last = nights[-1]
    lately = statistics.median(night.seconds for night in nights[-20:])
    c = last.counts
    return (
        f"night {last.number:5}: {lately:.3f} s, {c.opened} opened, {c.written} written, "
        f"{c.looked} looked, {c.listed} listed, {c.deleted} deleted, {c.requests} requests"
    )


if __name__ == "__main__":
    sys.exit(main())
