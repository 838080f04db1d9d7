"""`nightgrid generate`: payloads of random boards, in the published format."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from nightgrid.service.games import ALL, service_plug
from nightgrid.service.games.plug import Wanted
from nightgrid.service.options.pictures import write_file
from nightgrid.service.options.shared_options import Json, date_of, game_name, one_of
from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import emit, json_line, note, say
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES, game_plug, titles
from nightgrid.solvers.sentences import plural

SAMPLE_START = dt.date(2026, 1, 1)
MAX_DAYS = 100_000
PAYLOADS = " ".join(plug.payloads_help for plug in ALL.values() if plug.payloads_help)


def generate(
    *,
    game: Annotated[
        str,
        typer.Option(metavar="GAME", parser=game_name, help=f"{one_of(GAMES)}. {PAYLOADS}"),
    ] = DEFAULT_GAME,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Write FOLDER/DATE.json. Default: a payload a line to standard output.",
        ),
    ] = None,
    start: Annotated[
        dt.date | None,
        typer.Option(
            metavar="DATE",
            parser=date_of("--start"),
            help=f"Date of the first payload. Default: {SAMPLE_START}.",
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_DAYS,
            metavar="N",
            help="Number of payloads. Default: as many as the bundled archive has.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="The same seed gives the same boards. Default: that of the bundled archive.",
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level",
            "-l",
            metavar="LEVEL",
            help="Pips: a level of every payload; may be repeated.",
        ),
    ] = None,
    unique: Annotated[
        bool, typer.Option("--unique", help="Pips: only boards with exactly one solution.")
    ] = False,
    difficulty: Annotated[
        str | None,
        typer.Option(
            metavar="LOW-HIGH",
            help="Pips: only boards whose solutions are counted in LOW to HIGH states, the measure "
            "that solve and the report show.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Generate payloads of random solvable boards.

    The same options give the same bytes on every machine. Without options but --game, this
    recreates the bundled archive of Pips or Letter Boxed; that of Strands was made by an earlier
    generator.
    """
    plug = service_plug(game)
    if plug.sample_days is None:
        raise PermanentError(f"boards of {game_plug(game).title} are not generated")
    states = None if difficulty is None else _states(difficulty)
    wanted = Wanted(unique=unique, states=states) if unique or states else None
    if (level or wanted) and not plug.levels():
        takers = titles([name for name, one in ALL.items() if one.levels()])
        option = "--level" if level else "--unique" if unique else "--difficulty"
        raise PermanentError(f"{option} is for {takers}; this is {game_plug(game).title}")
    start = start or SAMPLE_START
    days = plug.sample_days if days is None else days
    seed = plug.sample_seed if seed is None else seed
    if days > (dt.date.max - start).days + 1:
        raise PermanentError(f"{days} days from {start} on reach beyond {dt.date.max}")
    options: dict[str, Any] = {"wanted": wanted} if wanted else {}
    payloads, levels = plug.payloads(level or (), start, days, seed, **options)
    if wanted:
        from rich.progress import track

        # Boards that fit may take minutes to find.
        on = console(sys.stderr)
        payloads = iter(track(payloads, "drawing", days, console=on, disable=not on.is_terminal))
    if out is None:
        for payload in payloads:
            say(json_line(payload))
        return Exit.OK
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise PermanentError(f"--out is {str(out)!r}, a file; expected a folder") from error
    except OSError as error:
        raise PermanentError(f"--out is {str(out)!r}: {error.strerror or error}") from error
    for number, payload in enumerate(payloads):
        date = (start + dt.timedelta(days=number)).isoformat() if plug.dated else None
        path = out / f"{date or str(number + 1).zfill(len(str(days)))}.json"
        text = json_line(payload)
        if path.exists() and path.read_bytes() != f"{text}\n".encode():
            raise PermanentError(f"{path} holds something else; expected a folder without it")
        write_file(path, f"{text}\n", "--out")
        if json:
            emit({"path": str(path), "date": date, "levels": levels})
    if not json:
        of = plural(len(levels) or 1, "board")
        note(f"wrote {plural(days, 'payload')} of {of} to {out}")
    return Exit.OK


def _states(text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    if not (dash and low.isdecimal() and high.isdecimal() and int(low) <= int(high)):
        raise PermanentError(
            f"--difficulty is {text!r:.40}; expected LOW-HIGH in states, such as 500-5000"
        )
    return int(low), int(high)
