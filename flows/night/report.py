"""What a night did: figures of every game, one sentence, and where the tables lie."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from nightgrid.archive.games import ranking_plug
from nightgrid.flows.attention import (
    CONTRADICTION,
    QUARANTINE,
    SKIPPED,
    AttentionItem,
    attention_sections,
)
from nightgrid.flows.runs import figures_table
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import NightgridError

_UNLISTED = {"paths", "fetch_failures", "made_anew", "source_trouble", "attention", "lake"}
"""Fields that the table of figures leaves out: lines of their own, and texts."""
REPORT_PATH = "reports/report.html"
"""Where the report of the last night for people lies in a lake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameReport:
    """The figures of one game of a night. The last one lies in state/GAME.json."""

    game: str
    ask: str
    """What was asked; several asks with ", " between them."""
    rules: str = ""
    """The rules that results are filed under; empty for a game that has none to switch."""
    lexicon_id: str = ""
    fetched: int = 0
    """Payloads that the source gave, known ones included."""
    new_payloads: int = 0
    """Payloads that the lake had never seen for their date."""
    fetch_failures: tuple[str, ...] = ()
    """One sentence for each date that could not be fetched."""
    source_failed: bool = False
    """Whether every date that was asked for failed, or the lake has nothing but quarantine of the
    game: then the night does not count as good."""
    failure: str = ""
    """What ended the steps of this game early; empty when they went through. The night goes on
    with its other games."""
    source_trouble: str = ""
    """What was the matter with the source as a whole; empty when nothing was."""
    made_anew: tuple[str, ...] = ()
    """One sentence for each table of gold that was damaged, and was made again."""
    skipped: int = 0
    """Files and folders next to the payloads of the source that are not called DATE.json."""
    editions: int = 0
    """Editions (date and level) with a board, in the lake."""
    revisions: int = 0
    """Editions whose board this job found changed."""
    quarantined: int = 0
    """Rules found broken in this job's new payloads."""
    in_quarantine: int = 0
    """Rules found broken in payloads that the lake has, this job's included."""
    observations: int = 0
    """Contradictions between current editions, in the lake."""
    planned: int = 0
    """Jobs that the lake had no answer for."""
    already_known: int = 0
    """Jobs left out because the lake has their answer, or has given them up."""
    known_poison: int = 0
    """Jobs among those that earlier nights have left as poison: `--retry poison` works them."""
    resumed: bool = False
    """Whether the run had been begun by a job that did not live to end it."""
    chunks_found: int = 0
    """Chunks of a resumed run that had been worked before."""
    chunks_worked: int = 0
    solved: int = 0
    unsolvable: int = 0
    over_budget: int = 0
    invalid: int = 0
    poison: int = 0
    contradictions: int = 0
    """Answers that an earlier version of the solver gave otherwise; told by the first night of a
    new version."""
    run_id: str | None = None
    """None when there was nothing to solve."""
    ranked: int = 0
    """Boards whose covers this job ranked by how likely each was meant."""
    ranker: str = ""
    """What ranked them; empty in a night that does not rank."""
    with_model: bool | None = None
    """Whether its models took part; None in a night that does not rank."""
    wall_seconds: float = 0.0
    lake: str = ""
    """The lake that it is about."""
    attention: tuple[AttentionItem, ...] = ()
    """What this job found that needs attention."""
    paths: dict[str, str] = field(default_factory=dict)
    """Where the tables lie: name of the table -> URL or path."""

    @property
    def answered(self) -> int:
        """Jobs that ended in this job, however they ended."""
        return sum(getattr(self, status.value) for status in Status)

    @property
    def failed(self) -> bool:
        """Return whether the night does not count as good."""
        return self.source_failed or bool(self.failure)

    @property
    def poisoned_jobs(self) -> int:
        """Jobs that are poison, of this night and of earlier ones."""
        return self.poison + self.known_poison

    @property
    def needs_attention(self) -> bool:
        """Return whether the night is done and found something that needs attention.

        A published puzzle can be read and has a solution, and a source has puzzles. A date that
        could not be fetched does not count: the next night asks for it again. Neither do names in
        a source that are no payloads: every night reports them.
        """
        looks = any(item.kind != SKIPPED for item in self.attention)
        return bool(looks or self.source_trouble or self.answered != self.solved)

    def line(self) -> str:
        """Write in one line what the night did."""
        if self.failure:
            return f"{self.game}: failed: {self.failure}"
        poison = f"{self.poisoned_jobs:,} POISON, " if self.poisoned_jobs else ""
        several = ", " in self.ask
        noun = "job" if several else "puzzle"
        new = "" if self.planned else "new "
        given_up = f", {self.known_poison:,} of them as poison" if self.known_poison else ""
        known = f" ({self.already_known:,} known already{given_up})" if self.already_known else ""
        fetched = [f"{self.fetched:,} fetched"]
        if self.fetch_failures:
            fetched.append(f"{len(self.fetch_failures):,} not fetched")
        worked = [f"{self.solved:,} solved", f"{self.unsolvable:,} unsolvable"]
        worked += [
            f"{getattr(self, status):,} {status.replace('_', ' ')}"
            for status in (Status.OVER_BUDGET, Status.INVALID)
            if getattr(self, status)
        ]
        earlier = self.in_quarantine - self.quarantined
        return ", ".join(
            [
                f"{self.game}: {poison}{fetched[0]}",
                *fetched[1:],
                f"{self.planned:,} {new}{noun}{'' if self.planned == 1 else 's'}{known}",
                *(worked if self.planned else ()),
                *([f"{self.ranked:,} ranked by {self.ranker}"] if self.ranker else ()),
                f"{self.quarantined:,} in quarantine"
                + (f" ({earlier:,} of earlier nights)" if earlier else ""),
                f"{self.wall_seconds:.1f} s",
            ]
        )

    @property
    def without_models(self) -> str:
        """Write that the models of the ranker took no part, as a clause; empty where they did."""
        return "" if self.with_model is not False else ranking_plug().ALONE

    def attention_sections(self) -> list[tuple[str, list[str]]]:
        """Write what needs attention: headings with their lines."""
        figures = {status.value: getattr(self, status.value) for status in Status}
        figures[Status.POISON.value] = self.poisoned_jobs
        figures[CONTRADICTION] = self.contradictions
        return attention_sections(
            self.attention,
            figures | {QUARANTINE: self.quarantined, SKIPPED: self.skipped},
            self.game,
            self.lake,
        )

    def table(self) -> list[tuple[str, str]]:
        """List the figures as (name, value) for a table."""
        names = (name.name for name in dataclasses.fields(self) if name.name not in _UNLISTED)
        return figures_table({name: getattr(self, name) for name in names})

    def to_json(self) -> dict[str, Any]:
        """Write the report as a JSON object."""
        return dataclasses.asdict(self)

    def notes(self) -> list[str]:
        """List what went wrong, and that models took no part, a sentence each."""
        not_fetched = (f"not fetched: {text}" for text in self.fetch_failures)
        return [
            text
            for text in (self.source_trouble, *not_fetched, *self.made_anew, self.without_models)
            if text
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NightReport:
    """The figures of one night, a section for each game in the order worked."""

    games: tuple[GameReport, ...]
    wall_seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Return whether any game's night does not count as good."""
        return any(report.failed for report in self.games)

    @property
    def poisoned(self) -> bool:
        """Return whether a puzzle of any game is given up after its workers had died of it."""
        return any(report.poisoned_jobs for report in self.games)

    @property
    def needs_attention(self) -> bool:
        """Return whether anything of any game deserves a look."""
        return any(report.needs_attention for report in self.games)

    def of(self, game: str) -> GameReport:
        """Return the section of a game."""
        return next(report for report in self.games if report.game == game)

    def sentence(self) -> str:
        """Write in one sentence which games went well."""
        bad = [report.game for report in self.games if report.failed]
        good = [report.game for report in self.games if not report.failed]
        if not bad:
            return f"{', '.join(good)}: all done in {self.wall_seconds:.1f} s."
        done = f"; {', '.join(good)} {'is' if len(good) == 1 else 'are'} done" if good else ""
        return f"{', '.join(bad)} failed{done}, in {self.wall_seconds:.1f} s."

    def to_json(self) -> dict[str, Any]:
        """Write the report as a JSON object."""
        return {
            "failed": self.failed,
            "wall_seconds": self.wall_seconds,
            "games": {report.game: report.to_json() for report in self.games},
        }


class NightFailedError(NightgridError):
    """A game failed; everything is done that could be, and `report` has a section for each."""

    def __init__(self, report: NightReport) -> None:
        why = (f"{r.game}: {r.failure or r.source_trouble}" for r in report.games if r.failed)
        super().__init__(" ".join([report.sentence(), *why]))
        self.report = report
