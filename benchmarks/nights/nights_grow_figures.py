"""What nights took, as rows, a section and a picture."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.instruments.counted_lake import Counts
from benchmarks.instruments.report import Section
from benchmarks.instruments.s3_servers import MOTO, SERVERS, version_of

AT = 10
"""Nights of which the median is told."""
JOBS = 100
"""Jobs on demand that are asked of a lake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a night took."""

    number: int
    cpu_s: float
    least_s: float
    """The least CPU seconds of several nights: what other work on the machine adds least to."""
    wall_s: float
    counts: Counts


Pair = tuple[Night, Night]
"""A night of the old lake and one of the young lake, on the same day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Nights of a lake at one age."""

    of_lake: Night
    times_young: float | None = None
    """How many times the CPU seconds of a young lake's they took, in the median pair of those that
    were worked in turn; None where the lake itself is young."""


def middle_of(nights: Sequence[Night]) -> Night:
    """Take the medians of nights."""

    def median(values: Iterable[float]) -> Any:
        return statistics.median(values)

    names = Counts.__slots__
    counts = {name: round(median(getattr(n.counts, name) for n in nights)) for name in names}
    return Night(
        number=nights[-1].number,
        cpu_s=median(n.cpu_s for n in nights),
        least_s=min(n.least_s for n in nights),
        wall_s=median(n.wall_s for n in nights),
        counts=Counts(**counts),
    )


def point_of(pairs: Sequence[Pair]) -> Point:
    """Take the medians of nights that were worked in turn."""
    of_lake = middle_of([old for old, _ in pairs])
    return Point(of_lake=of_lake, times_young=times_young(pairs, "cpu_s"))


def times_young(pairs: Sequence[Pair], name: str) -> float:
    """Say how many times as much the old lake's night took in the median pair."""
    return statistics.median(getattr(old, name) / getattr(young, name) for old, young in pairs)


HEAD = (
    "", "CPU s", "least", "wall s", "opened", "looked for", "listed", "written", "deleted",
    "requests",
)  # fmt: skip


def row_of_point(point: Point) -> tuple[str, ...]:
    """Write a point as a row of a table: see `row_of`."""
    beside = "" if point.times_young is None else f"{point.times_young:.2f}"
    return (*row_of(point.of_lake), beside)


def row_of(night: Night, name: str = "") -> tuple[str, ...]:
    """Write what a night took as a row of a table, named after its number."""
    counts = [getattr(night.counts, field) for field in Counts.__slots__]
    figures = (
        f"{night.cpu_s:.2f}",
        f"{night.least_s:.2f}",
        f"{night.wall_s:.2f}",
        *(f"{n:,}" for n in counts),
    )
    return (name or f"night {night.number:,}", *figures)


def section_of(
    options: argparse.Namespace,
    points: Sequence[Point],
    jobs: Sequence[tuple[str, Night]],
    idle: Night,
    pairs: Sequence[Pair],
) -> Section:
    """Write what the nights and the jobs took as tables."""
    given = [f"--nights {options.nights}", *([f"--every {options.every}"] * (options.every > 1))]
    section = Section(
        name="nights-s3" if options.s3 else "nights",
        title="A lake that grows" + (" on an object store" if options.s3 else ""),
        command=" ".join(
            ["python -m benchmarks.nights.nights_grow", *given, *_store_given(options.s3)]
        ),
    )
    olds, youngs = ([pair[side] for pair in pairs] for side in (0, 1))
    cpu, wall = (times_young(pairs, name) for name in ("cpu_s", "wall_s"))
    beside = [
        (*row_of(night, f"{which} lake, {len(pairs)} nights until {night.number:,}"), times)
        for which, night, times in (
            ("old", middle_of(olds), f"{cpu:.2f}"),
            ("young", middle_of(youngs), ""),
        )
    ]
    section.table((*HEAD, "times young"), [*map(row_of_point, points), *beside])
    section.table(
        HEAD,
        [
            *(row_of(night, f"{JOBS} jobs on {name}") for name, night in jobs),
            row_of(idle, "a night with nothing new after that"),
        ],
    )
    section.say(
        f"The row of a night is the median of {AT} nights of one day and three games, that of the "
        f"old and the young lake of {len(pairs)}, worked in turn on the same days; *least* is the "
        "least of their CPU seconds. *times young* is the median of the ratios of CPU seconds of "
        "the lake and of a lake with 50 nights, worked in turn on the same days: the speed of the "
        "machine changes during a run, and both alike. Jobs were measured once. CPU seconds are "
        "of this process, wall seconds depend on the disk and on what else runs."
    )
    section.say(
        f"In the median pair the old lake took {cpu:.2f} times the CPU time and {wall:.2f} times "
        "the wall time of the young one."
    )
    if options.s3:
        title = "moto" if options.s3 == MOTO else SERVERS[options.s3].title
        section.say(f"The store is {title} {version_of(options.s3)}, on loopback.")
    section.say(
        "![CPU seconds and files of a night, by nights before]"
        f"(../docs/pictures/{section.name}.svg)"
    )
    return section


def _store_given(server: str | None) -> list[str]:
    """Write the option of a store as it was given."""
    if not server:
        return []
    return ["--s3"] if server == MOTO else ["--s3", server]


def draw(name: str, points: Sequence[Point]) -> None:
    """Draw seconds and files of a night by the nights before it."""
    from benchmarks.instruments.plots import picture, say_curves

    nights = [point.of_lake for point in points]
    numbers = [night.number for night in nights]
    with picture(name, 1, 2) as axes:
        seconds, files = axes[0]
        seconds.plot(numbers, [night.cpu_s for night in nights], marker="o", markersize=3)
        seconds.set_ylabel("CPU seconds of a night")
        fields = ("opened", "written", "listed") + (
            ("requests",) * any(night.counts.requests for night in nights)
        )
        for field in fields:
            files.plot(numbers, [getattr(n.counts, field) for n in nights], label=field)
        files.set_ylabel("of a night")
        for axis in (seconds, files):
            axis.set_xlabel("nights before")
            axis.set_ylim(bottom=0)
        say_curves(files, len(fields))
