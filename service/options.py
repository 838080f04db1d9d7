"""Values of options that several commands share."""

from __future__ import annotations

import datetime as dt
import re

from solvers.errors import PermanentError

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def parse_date(text: str, option: str) -> dt.date:
    """Read a date as YYYY-MM-DD. Raises PermanentError that names the option."""
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    raise PermanentError(f"{option} is {text!r:.40}; expected a date as YYYY-MM-DD")
