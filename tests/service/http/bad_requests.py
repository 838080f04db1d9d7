"""Invalid requests to the HTTP service, each with its status, its problem and its sentence.

`bad-requests.json` next to this module has the answers; a test sends every request to a service
over a lake of three days of Pips.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).with_name("bad-requests.json")
SOLVES, PICTURE = "/v1/solves", "/v1/boards/picture"
JSON = {"Content-Type": "application/json"}
PAIR = {
    "dominoes": [[1, 2], [3, 4]],
    "regions": [
        {"indices": [[0, 0], [0, 1], [1, 0]], "type": "empty"},
        {"indices": [[1, 1]], "type": "sum", "target": 4},
    ],
}
LOOSE = {
    "dominoes": [[i % 7, (i // 7) % 7] for i in range(800)],
    "regions": [{"indices": [[r, c] for r in range(40) for c in range(40)], "type": "empty"}],
}
"""A square of 1,600 cells without any constraint."""
STRANDS = {"board": ["STAR", "WORD"]}
STUCK = {
    "dominoes": [[1, 2]],
    "regions": [{"indices": [[0, 0], [0, 1]], "type": "sum", "target": 9}],
}
"""No domino has nine pips."""
NO_JOB = "0" * 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, and where it is sent to."""

    what: str
    """Its fault, in a few words."""
    method: str = "POST"
    path: str = SOLVES
    body: Any = None
    """A JSON value; None: `raw`, or no body."""
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    before: Any = None
    """A body that is sent first, with the same headers."""
    worked: bool = False
    """Sent again after a worker has solved it: it is valid, but its answer is not a solution."""
    keys: bool = False
    """Sent to a service that requires keys; KEY stands for one with one request a minute, JOBS for
    one with one open job."""

    @property
    def content(self) -> bytes | None:
        """The bytes of the body."""
        return self.raw if self.body is None else json.dumps(self.body).encode()

    @property
    def sent_headers(self) -> dict[str, str]:
        """The headers, with the default type of a body."""
        return (JSON if self.method == "POST" else {}) | self.headers


def _get(what: str, path: str, **others: Any) -> Request:
    return Request(what=what, method="GET", path=path, **others)


def _body(what: str, body: Any, **others: Any) -> Request:
    return Request(what=what, body=body, **others)


def _pips(**others: Any) -> dict[str, Any]:
    return {"puzzle": PAIR | others}


def _region(**others: Any) -> dict[str, Any]:
    first = PAIR["regions"][0] | others  # type: ignore[operator]
    return _pips(regions=[first, PAIR["regions"][1]])


REQUESTS: tuple[Request, ...] = (
    # Invalid bodies
    Request(what="no body", raw=b""),
    Request(what="no JSON", raw=b"puzzle=1"),
    Request(what="a body that is cut", raw=b'{"puzzle": {"dominoes": [[1,'),
    Request(what="text after the object", raw=b'{"id": "pips/2026-01-01/hard"} x'),
    Request(what="a key twice", raw=b'{"id": "a", "id": "b"}'),
    Request(what="NaN", raw=b'{"deadline_s": NaN}'),
    Request(what="an endless number", raw=b'{"deadline_s": ' + b"9" * 400 + b"}"),
    Request(
        what="a number that is infinite",
        raw=b'{"puzzle": {"dominoes": [[1, 2]], "regions": [], "more": 1e400}}',
    ),
    Request(what="no UTF-8", raw=b'{"id": "\xff"}'),
    Request(what="a byte order mark", raw=b"\xef\xbb\xbf{}"),
    Request(what="a list", raw=b"[]"),
    Request(what="null", raw=b"null"),
    Request(what="nested deep", raw=b'{"puzzle": ' + b"[" * 5000 + b"]" * 5000 + b"}"),
    Request(what="nested a little too deep", raw=b'{"puzzle": ' + b"[" * 32 + b"]" * 32 + b"}"),
    Request(what="a huge body", raw=b'{"puzzle": "' + b"x" * 2_000_000 + b'"}'),
    # Headers
    Request(what="a form", raw=b"{}", headers={"Content-Type": "text/plain"}),
    Request(what="no type", raw=b"{}", headers={"Content-Type": ""}),
    _body("another host", {}, headers={"Host": "evil.example"}),
    _body("an invalid host", {}, headers={"Host": "a b"}),
    _body("a page of another site", {}, headers={"Origin": "https://evil.example"}),
    _body("a page of another site, as told", {}, headers={"Sec-Fetch-Site": "cross-site"}),
    # Which board
    _body("neither puzzle nor id", {}),
    _body("both puzzle and id", _pips() | {"id": "pips/2026-01-01/hard"}),
    _body("an unknown field", _pips() | {"asks": "count"}),
    _body("a puzzle that is a text", {"puzzle": "pips"}),
    _body("an empty puzzle", {"puzzle": {}}),
    _body("an unknown game", _pips() | {"game": "chess"}),
    _body("a game that is a number", _pips() | {"game": 1}),
    _body("a board of another game", _pips() | {"game": "strands"}),
    _body("a digit for a letter", {"puzzle": {"board": ["AB", "C5"]}}),
    _body("a date that the lake lacks", {"id": "pips/2031-01-01/hard"}),
    _body("an invalid date", {"id": "pips/2026-02-30/hard"}),
    _body("an invalid level", {"id": "pips/2026-01-01/wild"}),
    _body("several levels", {"id": "pips/2026-01-01"}),
    _body("an id that is too short", {"id": "abc"}),
    _body("an id of no puzzle", {"id": NO_JOB}),
    _body("a path for an id", {"id": "../../etc/passwd"}),
    _body("markup for an id", {"id": "<script>alert(1)</script>"}),
    _body("a payload without the level", {"puzzle": {"hard": PAIR}, "level": "easy"}),
    # Boards that break a rule
    _body("a cell twice", _region(indices=[[0, 0], [0, 0], [1, 0]])),
    _body("a cell in two regions", _region(indices=[[0, 0], [0, 1], [1, 1]])),
    _body("a cell that is a text", _region(indices=[[0, 0], "01", [1, 0]])),
    _body("a cell far away", _region(indices=[[0, 0], [0, 1], [1, 10**6]])),
    _body("a negative cell", _region(indices=[[0, 0], [0, 1], [-1, 0]])),
    _body("a region of no type", _region(type="odd")),
    _body("a target where none is", _region(target=3)),
    _body(
        "a target that is a fraction",
        _pips(regions=[PAIR["regions"][0], {"indices": [[1, 1]], "type": "sum", "target": 0.5}]),
    ),
    _body("no regions", _pips(regions=[])),
    _body("regions that are an object", _pips(regions={})),
    _body("too few dominoes", _pips(dominoes=[[1, 2]])),
    _body("a domino of three halves", _pips(dominoes=[[1, 2, 3], [3, 4]])),
    _body("a negative pip", _pips(dominoes=[[1, -2], [3, 4]])),
    _body("true for a pip", _pips(dominoes=[[True, 2], [3, 4]])),
    _body("rows of different lengths", {"puzzle": {"board": ["AB", "C"]}}),
    _body("markup for letters", {"puzzle": {"board": ["<b>", "</b>"]}}),
    _body("a side with a dot", {"puzzle": {"sides": ["TA.", "ERD"]}}),
    _body("a tile that is a text", {"puzzle": {"tiles": [["a"], "b"]}}),
    # Asks, rules, words
    _body("an invalid ask", _pips() | {"ask": "every"}),
    _body("an ask that the game has not", _pips() | {"ask": "best(3)"}),
    _body("all of none", _pips() | {"ask": "all(0)"}),
    _body("a rule of another game", _pips() | {"rules": {"spangram": "off"}}),
    _body("an invalid rule", {"puzzle": STRANDS, "rules": {"colour": "red"}}),
    _body("a rule of another type", {"puzzle": STRANDS, "rules": {"crossing": "perhaps"}}),
    _body("a rule out of bounds", {"puzzle": STRANDS, "rules": {"min_length": 0}}),
    _body("a file for words", {"puzzle": STRANDS, "rules": {"lexicon": "/etc/passwd"}}),
    _body("words for Pips", _pips() | {"words": ["WORD"]}),
    _body("words that are a text", {"puzzle": STRANDS, "words": "WORD"}),
    _body("no words", {"puzzle": STRANDS, "words": []}),
    _body("a word that is a number", {"puzzle": STRANDS, "words": ["WORD", 5]}),
    _body("markup in a word", {"puzzle": STRANDS, "words": ["<script>alert(1)</script>"]}),
    # Budgets and sizes
    _body("a budget of nothing", _pips() | {"budget": {"seconds": 0}}),
    _body("a budget over the service's", _pips() | {"budget": {"seconds": 1e6}}),
    _body("a budget of texts", _pips() | {"budget": {"nodes": "many"}}),
    _body("a deadline in the past", _pips() | {"deadline_s": -1}),
    _body("a board that is too large", {"puzzle": {"board": ["A" * 64] * 64}}, path=PICTURE),
    _body("a board that takes too long", {"puzzle": LOOSE}),
    # Valid boards without a solution, or without one within the budget
    _body("an unsolvable board", {"puzzle": STUCK, "ask": "count"}, worked=True),
    _body(
        "an unsolvable board, asked for a solution", {"puzzle": STUCK, "ask": "first"}, worked=True
    ),
    _body(
        "a board over its budget",
        {"puzzle": PAIR, "ask": "count", "budget": {"nodes": 1}},
        worked=True,
    ),
    _body("a long title", _pips() | {"title": "x" * 201}, path=PICTURE),
    # Paths and parameters
    _get("an unknown path", "/v1/nothing"),
    _get("a path that climbs", "/v1/puzzles/pips/%2e%2e%2f%2e%2e%2fetc%2fpasswd"),
    _get("a file that climbs", "/v1/puzzles/pips/2026-01-01/%2e%2e/picture.svg"),
    Request(what="a method that the path lacks", method="DELETE", path="/v1/games"),
    _get("an unknown game in a path", "/v1/puzzles/chess"),
    _get("an unknown date", "/v1/puzzles/pips/2031-01-01"),
    _get("a date of another form", "/v1/puzzles/pips/01.01.2026"),
    _get("a limit of nothing", "/v1/puzzles/pips?limit=0"),
    _get("a limit that is a text", "/v1/runs?limit=many"),
    _get("an unknown parameter", "/v1/puzzles/pips?sort=date"),
    _get("a misspelt parameter", "/v1/results?formt=csv"),
    _get("a range that ends first", "/v1/results?from=2026-01-02&to=2026-01-01"),
    _get("an invalid status", "/v1/results?status=odd"),
    _get("an offset below 0", "/v1/results?offset=-1"),
    _get("an invalid id", "/v1/results?id=1"),
    _get("a job that there is not", f"/v1/solves/{NO_JOB}"),
    _get("an invalid job id", "/v1/solves/%3Cscript%3E"),
    _get("events of no job", f"/v1/solves/{NO_JOB}/events"),
    _get("solutions of no job", f"/v1/solves/{NO_JOB}/solutions"),
    _get("a picture of no job", f"/v1/solves/{NO_JOB}/picture.svg"),
    Request(what="to cancel no job", method="DELETE", path=f"/v1/solves/{NO_JOB}"),
    # Keys
    _get("no key", "/v1/games", keys=True),
    _get("an unknown key", "/v1/games", keys=True, headers={"Authorization": "Bearer ng_a_b"}),
    _get("a password", "/v1/games", keys=True, headers={"Authorization": "Basic YTpi"}),
    _body(
        "requests over the limit", _pips(), before={}, keys=True, headers={"Authorization": "KEY"}
    ),
    _body(
        "open jobs over the limit",
        {"puzzle": PAIR, "ask": "all"},
        before={"puzzle": PAIR, "ask": "first"},
        keys=True,
        headers={"Authorization": "JOBS"},
    ),
)


def answers() -> dict[str, dict[str, Any]]:
    """Read the answers by fault."""
    found: dict[str, dict[str, Any]] = json.loads(ANSWERS.read_text())
    return found
