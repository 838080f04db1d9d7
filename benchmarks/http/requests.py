"""Requests of every kind for a service under strain: new and known boards, and what is none."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple

from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game

KNOWN = 50
_PIPS = {"dominoes": [[1, 2]], "regions": [{"indices": [[0, 0], [0, 1]], "type": "empty"}]}
INVALID: tuple[bytes, ...] = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"puzzle": NaN}',
    b'{"puzzle": 1}',
    b'{"puzzle": {}, "puzzle": {}}',
    b'{"puzzle": []}',
    b'{"puzzle": {"game": "chess"}}',
    b'{"puzzle": {"dominoes": [[1, 2]], "regions": []}}',
    b'{"puzzle": {"dominoes": 5, "regions": {}}}',
    b'{"id": "pips/1999-01-01/hard"}',
    b'{"id": "../../../etc/passwd"}',
    b'{"id": "<script>alert(1)</script>"}',
    b'{"id": 7}',
    b'{"puzzle": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    json.dumps({"puzzle": _PIPS, "ask": "most"}).encode(),
    json.dumps({"puzzle": _PIPS, "ask": "all(0)"}).encode(),
    json.dumps({"puzzle": _PIPS, "rules": {"lexicon": "/etc/passwd"}}).encode(),
    json.dumps({"puzzle": _PIPS, "words": ["A"]}).encode(),
    json.dumps({"puzzle": _PIPS, "deadline_s": -1}).encode(),
    json.dumps({"puzzle": _PIPS, "budget": {"seconds": 1e18}}).encode(),
    json.dumps({"puzzle": _PIPS, "more": "x" * 100_000}).encode(),
)
PATHS: tuple[str, ...] = (
    "/v1/solves/" + "0" * 32,
    "/v1/solves/x/events",
    "/v1/solves/..%2f..%2flake.json/picture.svg",
    "/v1/nothing",
    "/v1/puzzles/chess",
    "/v1/results?limit=-1",
)


class Wanted(NamedTuple):
    """A request, and what its reply may be."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]
    statuses: frozenset[int]


class Requests:
    """Draws requests: two in three are about boards, one in three is wrong."""

    def __init__(self, seed: int, boards: int) -> None:
        pips = game("pips")
        mixes = [PRESETS["medium"], PRESETS["hard"]]
        drawn = [pips.puzzle_to_json(puzzle) for puzzle, _ in generate_many(seed, boards, mixes)]
        self._new = iter(drawn[KNOWN:])
        self._known = drawn[:KNOWN]
        self._draw = random.Random(seed)

    def next(self) -> Wanted:
        """Draw a request."""
        kind = self._draw.random()
        if kind < 0.08:
            path = self._draw.choice(PATHS)
            return Wanted("GET", path, b"", {}, frozenset({404, 422}))
        if kind < 0.33:
            body = self._draw.choice(INVALID)
            return Wanted("POST", "/v1/solves", body, {}, frozenset(range(400, 500)))
        puzzle: Any = self._draw.choice(self._known)
        if kind < 0.8:
            puzzle = next(self._new, puzzle)
        ask = self._draw.choice(("count", "first", "all(3)"))
        headers = {"Prefer": "wait=10"} if self._draw.random() < 0.6 else {}
        body = json.dumps({"puzzle": puzzle, "ask": ask}).encode()
        return Wanted("POST", "/v1/solves", body, headers, frozenset({200, 202, 429}))
