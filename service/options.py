"""Values of options that several commands share."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solvers.errors import PermanentError

if TYPE_CHECKING:
    from workers.settings import Settings

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object a line to standard output.")
]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Payloads or puzzle files; '-' or none at all is standard input.",
        show_default=False,
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        "-l",
        metavar="LEVEL",
        help="Only puzzles of this level; may be given several times.",
        show_default=False,
    ),
]
LakeOption = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="FOLDER|URL",
        help="The lake: a folder or s3://BUCKET/PREFIX. Default: NIGHTGRID_LAKE, else ./lake.",
        show_default=False,
    ),
]


def parse_date(text: str, option: str) -> dt.date:
    """Read a date as YYYY-MM-DD. Raises PermanentError that names the option."""
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    raise PermanentError(f"{option} is {text!r:.40}; expected a date as YYYY-MM-DD")


def check_range(value: float | None, option: str, most: float, *, least: float = 0) -> None:
    """Raise PermanentError that names the option and the value unless it is None or in range."""
    if value is None or (value > 0 and least <= value <= most):
        return
    lower = f"at least {least:,}" if least else "more than 0"
    raise PermanentError(f"{option} is {value}; expected {lower} and at most {most:,.0f}")


def read_settings(**given: Any) -> Settings:
    """Read the settings from the environment; options that are not None go before it.

    Raises PermanentError that names the option or every variable with a wrong value.
    """
    if given.get("lake") == "":
        raise PermanentError("--lake is empty; expected a folder or a URL")
    from pydantic import ValidationError

    from workers.settings import Settings

    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        faults = "; ".join(
            f"{_variable(fault['loc'])}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        )
        raise PermanentError(faults) from error


def _variable(place: tuple[int | str, ...]) -> str:
    return f"NIGHTGRID_{'_'.join(map(str, place)).upper()}" if place else "settings"
