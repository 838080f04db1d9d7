"""What goes between a service and its quick processes: requests with their bodies, and answers.

A request is a line of JSON and then as many bytes as it says: the body of a request, as it came,
or a message as the queue `interactive` has them. An answer is a line: what the service has to know
of it, the reply to the client and what is to be filed, with tabs between them; or a word where
there is none. JSON that is written without spaces holds neither tabs nor ends of lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import BinaryIO, NamedTuple

from pydantic_core import from_json, to_json

_TAB = b"\t"


class Miss(StrEnum):
    """Why there is no answer."""

    TRIED = "tried"
    """The question was worked in vain: it is not to be tried once more in this way."""
    NOT_TRIED = "not-tried"
    """It was not worked: nothing was free, or it is of another kind."""

    def to_line(self) -> bytes:
        """Write it, without the end of the line."""
        return self.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickRequest:
    """A request to a quick process."""

    body: bytes
    is_message: bool = False
    """Whether the body is a message, and not that of a request."""
    begun_at: float
    """When its client asked, as Unix time."""
    references: tuple[str, ...] = ()
    """Dates that the lake has its board by."""
    is_kept: bool = False
    """Whether the lake has its board for good, so that it need not be filed."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """Names the trace that it belongs to."""

    def to_bytes(self) -> bytes:
        """Write it."""
        head = asdict(self) | {"body": len(self.body)}
        return to_json(head) + b"\n" + self.body


def read_quick_request(stream: BinaryIO) -> QuickRequest | None:
    """Read the next request; None at the end. Raises ValueError for what is none."""
    line = stream.readline()
    if not line:
        return None
    head = json.loads(line)
    body = stream.read(head.pop("body"))
    return QuickRequest(body=body, **head)


class Found(NamedTuple):
    """An answer that is final."""

    job_id: str
    puzzle_id: str
    game: str
    status: str
    states: int
    kernel_ns: int
    ended_at: float
    """Unix time."""
    reply: bytes
    """What the client is told, as JSON."""
    filed: bytes
    """What is to be filed, as nightgrid.workers.ondemand.filer takes it."""

    def to_line(self) -> bytes:
        """Write it, without the end of the line."""
        *head, reply, filed = self
        return _TAB.join((to_json(head), reply, filed))


def read_answer(line: bytes) -> Found | Miss:
    """Read the line of an answer. Raises ValueError or TypeError for what is none."""
    head, *rest = line.split(_TAB)
    if not rest:
        return Miss(head.decode())
    reply, filed = rest
    job_id, puzzle_id, game, status, states, kernel_ns, ended_at = from_json(head)
    return Found(job_id, puzzle_id, game, status, states, kernel_ns, ended_at, reply, filed)
