"""`nightgrid generate`: payloads of random boards, in the published format."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Mapping
from json import dumps as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.console import emit, note, plural, say
from service.exits import Exit
from service.option_games import refuse_others
from service.options import Json, check_game, parse_date
from solvers.errors import PermanentError

if TYPE_CHECKING:
    from solvers.tiles.generator import Form

SAMPLE_START = dt.date(2026, 1, 1)
SAMPLE_DAYS = {"pips": 30, "strands": 5, "letterboxed": 5, "tiles": 5}
SAMPLE_SEED = {"pips": 2026, "strands": 56, "letterboxed": 5, "tiles": 2026}
"""The bundled archive of a game is what `nightgrid generate` writes when nothing else is said."""
MAX_DAYS = 100_000
BOARDS_A_SEED = 2**32
"""Boards of Tiles have seeds of their own: those of one --seed are no other's."""

_SHAPE = ("sides", "letters", "vowels")
GAMES_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("level", "dominoes", "rows", "unconstrained", "max_pip", "duplicates"), ("pips",)
    ),
    **dict.fromkeys((*_SHAPE, "lexicon"), ("letterboxed",)),
    **dict.fromkeys(("tiles", "layers", "shapes"), ("tiles",)),
}
"""The games that each option is for which says what boards look like."""


def generate(
    game: Annotated[
        str,
        typer.Option(
            "--game", metavar="GAME", help="pips (the default), strands, letterboxed or tiles."
        ),
    ] = "pips",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Write FOLDER/DATE.json (of Tiles FOLDER/NUMBER.json); without it, one payload a "
            "line goes to standard output.",
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
            help="Number of payloads. Default: 30 of Pips, 5 of other games.",
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
    sides: Annotated[
        int | None, typer.Option(metavar="N", help="Letter Boxed: sides. Default: 4.")
    ] = None,
    letters: Annotated[
        int | None, typer.Option(metavar="N", help="Letter Boxed: letters a side. Default: 3.")
    ] = None,
    vowels: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Letter Boxed: least number of vowels. Default: as many as sides."
        ),
    ] = None,
    lexicon: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Letter Boxed: a word list to take the dictionaries from. Default: the common "
            "words of wordfreq.",
            show_default=False,
        ),
    ] = None,
    tiles: Annotated[
        int | None, typer.Option(metavar="N", help="Tiles: tiles a board. Default: 30.")
    ] = None,
    layers: Annotated[
        int | None, typer.Option(metavar="N", help="Tiles: layers a tile. Default: 3.")
    ] = None,
    shapes: Annotated[
        str | None,
        typer.Option(metavar="N|N-N", help="Tiles: shapes a layer. Default: 6-12."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that hold something else.")
    ] = False,
    json: Json = False,
) -> int:
    """Generate random solvable boards as payloads in the published format.

    The same options give the same bytes on every machine. Without options, or with --game strands
    or letterboxed alone, this makes a sample archive that nightgrid ships. Boards of Strands are
    laid anew for every payload from a few themes, in turn. Those of Letter Boxed bring the words
    that can be played on them, and the best chain as the official solution; letters are drawn until
    two words will do, or the best of many boards is taken. Those of Tiles have no date.
    """
    check_game(game)
    shaping = {
        "level": level or None,
        "dominoes": dominoes,
        "rows": rows,
        "unconstrained": unconstrained,
        "max_pip": max_pip,
        "duplicates": duplicates or None,
        "sides": sides,
        "letters": letters,
        "vowels": vowels,
        "lexicon": lexicon,
        "tiles": tiles,
        "layers": layers,
        "shapes": shapes,
    }
    said = {name: value for name, value in shaping.items() if value is not None}
    refuse_others(said, game, GAMES_OF)
    first = parse_date(start, "--start")
    days = SAMPLE_DAYS[game] if days is None else days
    seed = SAMPLE_SEED[game] if seed is None else seed
    _check_days(first, days)
    payloads, levels = _payloads(game, said, first, days, seed)
    if out is None:
        for _, text in payloads:
            say(text)
        return Exit.OK
    out.mkdir(parents=True, exist_ok=True)
    for name, text in payloads:
        path = out / f"{name}.json"
        _write(path, f"{text}\n".encode("ascii"), force=force)
        if json:
            date = None if game == "tiles" else name
            emit({"path": str(path), "date": date, "levels": levels})
    if not json:
        of = plural(len(levels) or 1, "board")
        note(f"wrote {plural(days, 'payload')} of {of} to {out}")
    return Exit.OK


def _check_days(start: dt.date, days: int) -> None:
    if days > (dt.date.max - start).days + 1:
        raise PermanentError(f"{days} days from {start} on reach beyond {dt.date.max}")


def _payloads(
    game: str, said: Mapping[str, Any], start: dt.date, days: int, seed: int
) -> tuple[Iterator[tuple[str, str]], list[str]]:
    """Make payloads, each with the name of its file, and name their levels."""
    if game == "tiles":
        return _numbered(_form(said), days, seed), []
    if game == "strands":
        from archive.themes import strands_payloads

        return _dated(strands_payloads(start, days, seed)), ["daily"]
    if game == "letterboxed":
        from archive.lexicons import default_lexicon, lexicon_from_file
        from service.letter_boards import Shape, letter_payloads

        shape = Shape(**{name: said[name] for name in _SHAPE if name in said})
        file = said.get("lexicon")
        lexicon = default_lexicon() if file is None else lexicon_from_file(file)
        return _dated(letter_payloads(shape, lexicon, start, days, seed)), ["daily"]
    from service.pips_mixes import chosen_mixes, pips_payloads

    mixes = chosen_mixes(said)
    return _dated(pips_payloads(mixes, start, days, seed)), list(mixes)


def _dated(payloads: Iterator[tuple[dt.date, str]]) -> Iterator[tuple[str, str]]:
    return ((date.isoformat(), text) for date, text in payloads)


def _form(said: Mapping[str, Any]) -> Form:
    from solvers.tiles.generator import Form

    given = {name: said[name] for name in ("tiles", "layers") if name in said}
    if "shapes" in said:
        least, _, most = said["shapes"].partition("-")
        numbers = (least, most or least)
        if not all(n.isascii() and n.isdecimal() and len(n) <= 8 for n in numbers):
            raise PermanentError(
                f"--shapes is {said['shapes']!r:.40}; expected a number or two, such as 6-12"
            )
        given |= {"shapes_min": int(numbers[0]), "shapes_max": int(numbers[1])}
    return Form(**given)


def _numbered(form: Form, boards: int, seed: int) -> Iterator[tuple[str, str]]:
    """Make boards of Tiles as the page holds them; they have numbers instead of dates."""
    from solvers.tiles.generator import generate as generate_tiles
    from solvers.tiles.generator import to_page

    for i in range(boards):
        board = generate_tiles(form, seed * BOARDS_A_SEED + i)
        text = json_text(to_page(board), separators=(",", ":"))
        yield f"{i + 1:0{len(str(boards))}}", text


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
