"""What one check of the doctor found, and what to do about it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Verdict = Literal["ok", "warning", "failure"]


class Finding(NamedTuple):
    """What one check found. `advice` says what to do and is empty when all is well."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def either(
    check: str, well: object, found: str, otherwise: str, advice: str, bad: Verdict = "failure"
) -> Finding:
    """Make the finding of a check that asks one thing; `bad` is the verdict where it is not so."""
    return Finding(check, "ok", found) if well else Finding(check, bad, otherwise, advice)
