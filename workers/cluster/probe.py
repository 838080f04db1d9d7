"""Check that the workers of this host make progress: `python -m nightgrid.workers.cluster.probe`.

`... probe live` fails where a restart would help, `... probe ready` while they take no work
(`heartbeats` says when). It asks neither lake nor server, and imports nothing that takes time: it
may run every few seconds.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from nightgrid.workers.cluster.heartbeats import (
    FRESH_S,
    LIVE,
    READY,
    age_s,
    is_fresh,
    read_cause,
)

NOT_SO = {
    LIVE: "the supervisor or its keeper does not go round",
    READY: "a process is missing, a worker is not heard or refuses work, or the lake does not "
    "answer the keeper",
}


def probe(folder: Path, name: str) -> str:
    """Return in one sentence why something is not so; "" if it is."""
    if is_fresh(folder, name):
        return ""
    age = age_s(folder, name)
    when = "was never so" if age is None else f"was last so {age:.0f} s ago"
    why = (name == READY and read_cause(folder)) or NOT_SO[name]
    return f"not {name} in {folder}: {why}; it {when}, expected within {FRESH_S[name]:g} s"


def main() -> None:
    """Probe, as a program: exit code 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m nightgrid.workers.cluster.probe")
    parser.add_argument("name", choices=tuple(NOT_SO))
    folder = os.environ.get("NIGHTGRID_VAR_DIR")
    if folder is None:
        # Settings say where it is by default, and take ten times as long to load.
        from nightgrid.workers.settings import program_settings

        folder = str(program_settings().side_dir)
    if why := probe(Path(folder).expanduser(), parser.parse_args().name):
        parser.exit(1, f"{why}\n")


if __name__ == "__main__":
    main()
