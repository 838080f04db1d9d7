"""Rankings of single boards: `submit --rank`, and `result` of a ranking."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from nightgrid.service.cli.answers import each_puzzle, head_json
from nightgrid.service.cli.ondemand.job_sources import remote_jobs
from nightgrid.service.games import service_plug
from nightgrid.service.options.shared_options import read_settings
from nightgrid.service.terminal.console import Exit, complain, duration, emit, say, sentence_of
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found
    from nightgrid.service.remote.client import RemoteClient
    from nightgrid.workers.ranking.ondemand import RankingStatus

COVERS_SHOWN = 5
COVERS_ASKED = 100


class Rankings(Protocol):
    """Rankings of a lake or of a service."""

    def submit(self, puzzle: Any, clue: str | None) -> str:
        """Ask for a board to be ranked; return the ranking's id."""

    def wait(self, ranking_id: str, timeout_s: float) -> RankingStatus:
        """Wait at most `timeout_s` for a ranking, and return its status."""


class LakeRankings:
    """The rankings of a lake."""

    def __init__(self, lake: str | None, wait: float | None, *, writes: bool) -> None:
        """Open a lake; a server that boards are sent to is waited for as long as answers are."""
        from nightgrid.archive.lake.storage import Lake
        from nightgrid.service.cli.ondemand.waiting_for_server import wait_for_server

        self.settings = read_settings(lake=lake, writes=writes)
        self.lake = Lake.open(self.settings.lake)
        # One wait is enough for all boards.
        self._need_server = cache(partial(wait_for_server, self.lake, self.settings, wait))

    def submit(self, puzzle: Any, clue: str | None) -> str:
        """See Rankings. Raises PermanentError for a board that cannot be ranked."""
        from nightgrid.archive.games import ranking_plug
        from nightgrid.archive.results.rankings import RankingRequest
        from nightgrid.workers.ranking.ondemand import ranking_status, submit_ranking

        ranks = ranking_plug()
        if not ranks.can_rank(puzzle):
            raise PermanentError(ranks.NOT_RANKED)
        wanted = RankingRequest(puzzle=puzzle, clue=clue)
        if ranking_status(self.lake, wanted.ranking_id(ranks.ranker_here())).state != "done":
            self._need_server()
        return submit_ranking(self.lake, wanted, self.settings)

    def wait(self, ranking_id: str, timeout_s: float) -> RankingStatus:
        """See Rankings."""
        from nightgrid.workers.ranking.ondemand import wait_for_ranking

        return wait_for_ranking(self.lake, ranking_id, timeout_s)


class RemoteRankings:
    """The rankings of a service."""

    def __init__(self, client: RemoteClient) -> None:
        self._client = client

    def submit(self, puzzle: Any, clue: str | None) -> str:
        """See Rankings."""
        body = {"puzzle": puzzle.to_json(), **({} if clue is None else {"clue": clue})}
        return str(self._client.ask("POST", "/v1/rankings", body=body)["id"])

    def wait(self, ranking_id: str, timeout_s: float) -> RankingStatus:
        """See Rankings."""
        from nightgrid.service.remote.client import NotThereError
        from nightgrid.workers.ranking.ondemand import OPEN_STATES, POLL_SECONDS, RankingStatus

        ends_at = time.monotonic() + timeout_s
        while True:
            try:
                value = self._client.get(f"/v1/rankings/{ranking_id}", limit=COVERS_ASKED)
            except NotThereError:
                return RankingStatus(ranking_id=ranking_id, state="unknown")
            if value["state"] not in OPEN_STATES or time.monotonic() >= ends_at:
                break
            time.sleep(POLL_SECONDS)
        return RankingStatus(
            ranking_id=ranking_id,
            state=value["state"],
            ranking=value if value["status"] else None,
            reason=value["reason"],
        )


def submit_rankings(
    files: Sequence[str], lake: str | None, url: str | None, wait: float | None, *, json: bool
) -> int:
    """Submit boards to be ranked; print the ids of the rankings, or with `wait` the rankings."""
    from nightgrid.archive.games import ranking_plug
    from nightgrid.service.cli.ondemand.submission import puzzle_name
    from nightgrid.service.options.reading import read_sources

    ranked = ranking_plug().GAME
    named: dict[str, str] = {}
    with rankings_at(url, lake, wait, writes=True) as source:

        def submit_one(found: Found, published: Published) -> Exit:
            if found.game != ranked:
                title = game_plug(ranked).title
                raise PermanentError(f"--rank is for {title}; this board is of {found.game}")
            ranking_id = source.submit(published.puzzle, published.clue)
            named[ranking_id] = puzzle_name(found, published)
            if wait is None and json:
                emit(head_json(found, published.puzzle) | {"ranking_id": ranking_id})
            elif wait is None:
                say(f"{ranking_id}  {named[ranking_id]}")
            return Exit.OK

        sources = read_sources(files, lake=lake)
        code = each_puzzle(sources, submit_one, ask=None, json=json, spaced=False)
        if wait is None:
            return code
        return max(code, show_rankings(source, named, wait, json=json))


@contextmanager
def rankings_at(
    url: str | None, lake: str | None, wait: float | None = None, *, writes: bool
) -> Iterator[Rankings]:
    """Open the rankings of a service or of a lake for the length of a `with` block."""
    service = remote_jobs(url, lake)
    if service is None:
        yield LakeRankings(lake, wait, writes=writes)
        return
    with closing(service):
        yield RemoteRankings(service.client)


def rankings_among(texts: Sequence[str], lake: str | None, url: str | None) -> list[str]:
    """Choose the texts that are ids of rankings, made or wanted."""
    from nightgrid.workers.ondemand.record import is_job_id

    ids = [text for text in texts if is_job_id(text)]
    if not ids:
        return []
    with rankings_at(url, lake, writes=False) as source:
        return [text for text in ids if source.wait(text, 0.0).state != "unknown"]


def show_rankings(source: Rankings, named: Mapping[str, str], wait: float, *, json: bool) -> Exit:
    """Print rankings, waiting at most `wait` seconds for all; return the worst exit code."""
    worst, until = Exit.OK, time.monotonic() + wait
    for ranking_id, name in named.items():
        found = source.wait(ranking_id, max(0.0, until - time.monotonic()))
        if json:
            emit({"name": name, "state": found.state, **_json(found)})
        if found.ranking is None:
            complain(
                f"{ranking_id}: {found.reason}" if found.reason else f"{ranking_id} is not made yet"
            )
            worst = max(worst, Exit.FAILED)
            continue
        if not json:
            say(f"{name}:")
            say_ranking(found.ranking)
        if not found.ranking["covers"]:
            worst = max(worst, Exit.UNSOLVABLE)
    return worst


def show_rankings_at(
    ids: Sequence[str], lake: str | None, url: str | None, wait: float, *, json: bool
) -> Exit:
    """Print rankings of a lake or a service by their ids; return the worst exit code."""
    with rankings_at(url, lake, writes=False) as source:
        return show_rankings(source, {text: text for text in ids}, wait, json=json)


def _json(found: RankingStatus) -> dict[str, Any]:
    if found.ranking is None:
        return {"ranking_id": found.ranking_id, "reason": found.reason}
    kept = {name: value for name, value in found.ranking.items() if name not in ("id", "links")}
    return {"ranking_id": found.ranking_id, **kept}


def say_ranking(ranking: Mapping[str, Any]) -> None:
    """Write the likeliest covers, and what spoke for each word of the first."""
    from nightgrid.archive.games import ranking_plug

    covers = ranking["covers"]
    if not covers:
        say(ranking["reason"] or "No cover was found to rank.")
        return
    clue = "" if ranking["clue"] else ", without a clue"
    seconds = duration(int(1e9 * ranking["seconds"]))
    say(f"{len(covers)} covers ranked in {seconds} by {ranking['ranker']}{clue}:")
    for place, cover in enumerate(covers[:COVERS_SHOWN], 1):
        spangram = " ".join(cover["components"])
        say(f"  {place}. {cover['confidence']:6.1%}  {spangram}: {', '.join(cover['theme_words'])}")
    ranks = ranking_plug()
    for line in service_plug(ranks.GAME).why_ranked(covers[0]):
        say(line)
    if ranking["with_model"] is False:
        say(sentence_of(ranks.ALONE))
