"""Make the tables of a lake again from the payloads as they were received.

In place, boards, editions, quarantine and observations are made again and all answers are kept: an
answer belongs to a board, and the same board has the same id. Into another lake, the payloads are
copied, and nothing else: what is asked of its boards is worked again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.sightings import raw_folder
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.maintenance.check import OnFile
from nightgrid.flows.maintenance.repair import LEASE
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.lease import check_held, holding


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """The tables of one game, made again."""

    game: str
    editions: int
    quarantined: int
    copied: int = 0
    """Files of payloads that were copied."""

    def to_json(self) -> dict[str, Any]:
        """Write it for programs."""
        return asdict(self)


def rebuild_lake(
    lake: Lake,
    games: Collection[str] = (),
    *,
    into: Lake | None = None,
    on_file: OnFile = lambda _done, _total: None,
) -> Iterator[Rebuilt]:
    """Make the tables of games again, of all games unless some are named; yield each game.

    `into` is a lake without editions of these games. Killed anywhere, the same call ends it. Raises
    PermanentError for a game without payloads, and for another lake that has payloads of its own;
    TransientError while a night is at work on the lake that is written.
    """
    found = [game for game in sorted(GAMES) if lake.exists(raw_folder(game))]
    missing = sorted(set(games) - set(found))
    if missing or not found:
        what = f"payloads of {', '.join(missing) or 'any game'}"
        raise PermanentError(f"the lake {lake.url} has no {what}; expected some under raw/")
    target = into or lake
    with holding(target, LEASE, f"a night or a repair is at work on the lake {target.url}"):
        for game in (game for game in found if not games or game in games):
            copied = 0 if into is None else _copy(lake, into, game, on_file)
            done = normalise(
                target, game=game, rebuild=True, check=lambda: check_held(target, LEASE)
            )
            yield Rebuilt(
                game=game,
                editions=done.edition_count,
                quarantined=done.quarantine_count,
                copied=copied,
            )


def _copy(lake: Lake, into: Lake, game: str, on_file: OnFile) -> int:
    """Copy the payloads of a game that are not there yet, bodies before what tells of them."""
    paths = lake.list(raw_folder(game))
    there = set(into.list(raw_folder(game)))
    if there.difference(paths):
        raise PermanentError(f"the lake {into.url} has {game} payloads of its own; expected none")
    todo = sorted(set(paths) - there, key=lambda path: (path.endswith(".json"), path))
    for number, path in enumerate(todo):
        on_file(number, len(todo))
        into.create_bytes(path, lake.read_bytes(path))
    on_file(len(todo), len(todo))
    return len(todo)
