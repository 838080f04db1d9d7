"""`nightgrid generate`: payloads of random boards, in the published format."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.console import emit, note, plural, say
from service.exits import Exit
from service.options import Json, check_game, parse_date
from solvers.errors import PermanentError

if TYPE_CHECKING:
    from solvers.pips.mix import Mix

SAMPLE_START = dt.date(2026, 1, 1)
SAMPLE_DAYS = {"pips": 30, "strands": 5}
SAMPLE_SEED = {"pips": 2026, "strands": 56}
"""The bundled archive of a game is what `nightgrid generate` writes when nothing else is said."""
MAX_DAYS = 100_000


def generate(
    game: Annotated[
        str, typer.Option("--game", metavar="GAME", help="pips (the default) or strands.")
    ] = "pips",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Write FOLDER/DATE.json; without it, one payload a line goes to standard output.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str, typer.Option(metavar="DATE", help="Date of the first payload.")
    ] = SAMPLE_START.isoformat(),
    days: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_DAYS,
            metavar="N",
            help="Number of payloads. Default: 30 of Pips, 5 of Strands.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="The same seed gives the same boards. Default: that of the sample archive.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level",
            "-l",
            metavar="LEVEL",
            help="Pips: mix of a board of every payload: easy, medium, hard or loose; may be "
            "given several times. Without it: easy, medium and hard.",
            show_default=False,
        ),
    ] = None,
    dominoes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Pips: dominoes a board, instead of the mix's."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Pips: make every board a rectangle of N rows."),
    ] = None,
    unconstrained: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Pips: share of cells without a constraint, 0 to 1."),
    ] = None,
    max_pip: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Pips: highest pip of the set of dominoes."),
    ] = None,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Pips: let a board hold a domino several times.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that hold something else.")
    ] = False,
    json: Json = False,
) -> int:
    """Generate random solvable boards as payloads in the published format.

    The same options give the same bytes on every machine. Without options, or with --game strands
    alone, this makes a sample archive that nightgrid ships. Boards of Strands are laid anew for
    every payload from a few themes, in turn.
    """
    check_game(game)
    mix = {
        "level": level or None,
        "dominoes": dominoes,
        "rows": rows,
        "unconstrained": unconstrained,
        "max_pip": max_pip,
        "duplicates": duplicates or None,
    }
    first = parse_date(start, "--start")
    days = SAMPLE_DAYS[game] if days is None else days
    seed = SAMPLE_SEED[game] if seed is None else seed
    _check_days(first, days)
    if game == "strands":
        from service.themes import strands_payloads

        _refuse_mix(mix)
        levels = ["daily"]
        payloads = strands_payloads(first, days, seed)
    else:
        mixes = chosen_mixes(
            level or [],
            dominoes=dominoes,
            rows=rows,
            unconstrained=unconstrained,
            max_pip=max_pip,
            duplicates=duplicates,
        )
        levels = list(mixes)
        payloads = generate_payloads(mixes, first, days, seed)
    if out is None:
        for _, text in payloads:
            say(text)
        return Exit.OK
    out.mkdir(parents=True, exist_ok=True)
    for date, text in payloads:
        path = out / f"{date}.json"
        _write(path, f"{text}\n".encode("ascii"), force=force)
        if json:
            emit({"path": str(path), "date": date.isoformat(), "levels": levels})
    if not json:
        note(f"wrote {plural(days, 'payload')} of {plural(len(levels), 'board')} to {out}")
    return Exit.OK


def _check_days(start: dt.date, days: int) -> None:
    if days > (dt.date.max - start).days + 1:
        raise PermanentError(f"{days} days from {start} on reach beyond {dt.date.max}")


def _refuse_mix(mix: dict[str, Any]) -> None:
    given = [f"--{name.replace('_', '-')}" for name, value in mix.items() if value is not None]
    if given:
        verb = "is" if len(given) == 1 else "are"
        raise PermanentError(f"{', '.join(given)} {verb} for Pips; this is Strands")


def chosen_mixes(
    levels: list[str],
    *,
    dominoes: int | None = None,
    rows: int | None = None,
    unconstrained: float | None = None,
    max_pip: int | None = None,
    duplicates: bool = False,
) -> dict[str, Mix]:
    """Look the levels' mixes up and change what is not None.

    Raises PermanentError for an unknown level and for a mix that no board can follow.
    """
    from dataclasses import replace

    from solvers.pips.mix import LEVELS, PRESETS

    changes: dict[str, Any] = {}
    if dominoes is not None:
        changes["dominoes"] = ((dominoes, 1.0),)
    if rows is not None:
        changes |= {"shape": "rectangle", "rows": rows, "cols": None}
    if unconstrained is not None:
        changes["unconstrained"] = unconstrained
    if max_pip is not None:
        changes["max_pip"] = max_pip
    if duplicates:
        changes["duplicates"] = True
    mixes = {}
    for name in dict.fromkeys(level.lower() for level in levels or LEVELS):
        if name not in PRESETS:
            raise PermanentError(f"unknown level {name!r}; expected one of {', '.join(PRESETS)}")
        mixes[name] = replace(PRESETS[name], **changes)
    return mixes


def generate_payloads(
    mixes: dict[str, Mix], start: dt.date, days: int, seed: int
) -> Iterator[tuple[dt.date, str]]:
    """Generate one payload of Pips a day, as compact JSON without a line break."""
    from solvers.pips.generator import generate_many, to_payload

    boards = generate_many(seed, days * len(mixes), list(mixes.values()))
    for day in range(days):
        date = start + dt.timedelta(days=day)
        todays = dict(zip(mixes, itertools.islice(boards, len(mixes)), strict=True))
        yield date, json.dumps(to_payload(date, todays), separators=(",", ":"))


def _write(path: Path, data: bytes, *, force: bool) -> None:
    if path.exists():
        if path.is_file() and path.read_bytes() == data:
            return
        if not force:
            raise PermanentError(f"{path} holds something else; --force replaces it")
    staged = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        staged.write_bytes(data)
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)
