"""A process in the place of one that solves: it answers with what it is asked, or misbehaves.

Asked to `tell`, it answers with all that it was asked before.
"""

import json
import os
import signal
import sys

from nightgrid.service.http.solves.quick.lines import Found, read_quick_request


def found(reply: bytes) -> bytes:
    """Write an answer with a reply."""
    head = {"job_id": "", "puzzle_id": "", "game": "", "status": "", "states": 0, "kernel_ns": 0}
    return Found(**head, ended_at=0.0, reply=reply, filed=b"").to_line()  # type: ignore[arg-type]


def main() -> None:
    print("ready", flush=True)
    asked: list[str] = []
    while (asked_now := read_quick_request(sys.stdin.buffer)) is not None:
        say = asked_now.body.decode()
        if say == "die":
            os._exit(1)
        if say == "stall":
            signal.pause()
        asked.append(say)
        told = json.dumps(asked[:-1]) if say == "tell" else say
        answer = b"no answer" if say == "garble" else found(told.encode())
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()


main()
