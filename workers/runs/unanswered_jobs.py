"""Which jobs without an answer are solved again: the option `--retry`."""

from __future__ import annotations

from enum import StrEnum


class Retry(StrEnum):
    """Jobs without a solution or a proof to solve again: a status, or all of them."""

    POISON = "poison"
    OVER_BUDGET = "over_budget"
    INVALID = "invalid"
    ALL = "all"


def statuses_of(retry: Retry | None) -> frozenset[str]:
    """Return the statuses that do not count as an answer."""
    if retry is Retry.ALL:
        return frozenset(each.value for each in Retry if each is not Retry.ALL)
    return frozenset() if retry is None else frozenset({retry.value})
