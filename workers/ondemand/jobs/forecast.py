"""What a job takes altogether, from what was expected of it and from what it has taken so far."""

from __future__ import annotations

from typing import NamedTuple


class Forecast(NamedTuple):
    """Seconds of one core."""

    expected_s: float
    """What the job takes altogether."""
    left_s: float


def forecast(expected_s: float, worked_s: float, passed: float) -> Forecast:
    """Forecast a job that has worked so long, after which a share of what was foreseen has passed.

    The more has passed, the more counts what it took, and the less what was expected: so the
    forecast goes from one to the other without a leap.
    """
    passed = min(max(passed, 0.0), 1.0)
    whole_s = expected_s
    if passed > 0.0 and worked_s > 0.0 and expected_s > 0.0:
        whole_s = expected_s ** (1.0 - passed) * (worked_s / passed) ** passed
    # Something is left as long as not all has passed, however long that took.
    left_s = (1.0 - passed) * whole_s
    return Forecast(worked_s + left_s, left_s)
