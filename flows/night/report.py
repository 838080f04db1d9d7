"""The report of a night: figures of every game, one sentence, and where the tables are."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from nightgrid.archive.games import ranking_plug
from nightgrid.flows.attention import (
    CONTRADICTION,
    MISSING,
    QUARANTINE,
    SKIPPED,
    AttentionItem,
    attention_sections,
)
from nightgrid.flows.runs import figures_table
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import NightgridError

_UNLISTED = {"paths", "fetch_failures", "made_anew", "source_trouble", "attention", "lake"}
"""Fields left out of the table of figures: they are texts, or have lines of their own."""
REPORT_PATH = "reports/report.html"
"""Path in the lake of the last night's report for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameReport:
    """The figures of one game of a night. The last ones are in state/GAME.json."""

    game: str
    ask: str
    """The ask; several asks are joined with ", "."""
    rules: str = ""
    """The rules that results are stored under; empty for a game without switchable rules."""
    lexicon_id: str = ""
    fetched: int = 0
    """Payloads of the source, including known ones."""
    new_payloads: int = 0
    """Payloads that were new for their date."""
    fetch_failures: tuple[str, ...] = ()
    """One sentence for each date that could not be fetched."""
    source_failed: bool = False
    """Whether every requested date failed, or the lake has nothing but quarantine of the game; the
    night then counts as failed."""
    failure: str = ""
    """The error that ended the steps of this game early; empty if there was none. The night
    continues with its other games."""
    source_trouble: str = ""
    """The fault of the source as a whole; empty if there was none."""
    made_anew: tuple[str, ...] = ()
    """One sentence for each gold table that was damaged and rebuilt."""
    skipped: int = 0
    """Files and parts of files of the source that are not read."""
    editions: int = 0
    """Editions (date and level) with a board, in the lake."""
    revisions: int = 0
    """Editions whose board had changed."""
    quarantined: int = 0
    """Broken rules in new payloads."""
    in_quarantine: int = 0
    """Broken rules in all payloads of the lake."""
    observations: int = 0
    """Contradictions between current editions, in the lake."""
    planned: int = 0
    """Jobs without an answer in the lake."""
    already_known: int = 0
    """Jobs skipped because the lake has their answer, or has given them up."""
    known_poison: int = 0
    """Those of them that earlier nights left as poison: `--retry poison` solves them again."""
    resumed: bool = False
    """Whether the run was started by a night that did not finish it."""
    chunks_found: int = 0
    """Chunks of a resumed run that were finished before."""
    chunks_worked: int = 0
    solved: int = 0
    unsolvable: int = 0
    over_budget: int = 0
    invalid: int = 0
    poison: int = 0
    contradictions: int = 0
    """Answers that differ from an earlier version of the solver, reported by the first night of a
    new version."""
    run_id: str | None = None
    """None if there was nothing to solve."""
    ranked: int = 0
    """Boards whose covers this night ranked by how likely each was meant."""
    ranker: str = ""
    """Name of the ranker; empty if the night does not rank."""
    with_model: bool | None = None
    """Whether its models were used; None if the night does not rank."""
    wall_seconds: float = 0.0
    lake: str = ""
    """The lake of the night."""
    attention: tuple[AttentionItem, ...] = ()
    """Findings of this night that need attention."""
    paths: dict[str, str] = field(default_factory=dict)
    """Name of each table -> its URL or path."""

    @property
    def answered(self) -> int:
        """Jobs that ended in this night, however they ended."""
        return sum(getattr(self, status.value) for status in Status)

    @property
    def failed(self) -> bool:
        """Return whether the night of this game counts as failed."""
        return self.source_failed or bool(self.failure)

    @property
    def poisoned_jobs(self) -> int:
        """Jobs that are poison, of this night and of earlier ones."""
        return self.poison + self.known_poison

    @property
    def needs_attention(self) -> bool:
        """Return whether the night is done and found something that needs attention.

        A published puzzle should be readable and have a solution, and a source should have puzzles.
        A date that could not be fetched does not count, because the next night requests it again;
        nor do names in a source that are no payloads, because every night reports them.
        """
        looks = any(item.kind not in (SKIPPED, MISSING) for item in self.attention)
        return bool(looks or self.source_trouble or self.answered != self.solved)

    def line(self) -> str:
        """Summarize the night of this game in one line."""
        if self.failure:
            return f"{self.game}: failed: {self.failure}"
        poison = f"{self.poisoned_jobs:,} POISON, " if self.poisoned_jobs else ""
        several = ", " in self.ask
        noun = "job" if several else "puzzle"
        new = "" if self.planned else "new "
        given_up = f", {self.known_poison:,} of them as poison" if self.known_poison else ""
        known = f" ({self.already_known:,} already known{given_up})" if self.already_known else ""
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
        """Return a clause that says that the ranker's models were not used; empty if they were."""
        return "" if self.with_model is not False else ranking_plug().ALONE

    def attention_sections(self) -> list[tuple[str, list[str]]]:
        """Return what needs attention: headings with their lines."""
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
        """Return the report as a JSON object."""
        return dataclasses.asdict(self)

    def notes(self) -> list[str]:
        """List what went wrong, and that models were not used, a sentence each."""
        not_fetched = (f"not fetched: {text}" for text in self.fetch_failures)
        return [
            text
            for text in (self.source_trouble, *not_fetched, *self.made_anew, self.without_models)
            if text
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NightReport:
    """The figures of one night, a section for each game in processing order."""

    games: tuple[GameReport, ...]
    wall_seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Return whether any game's night counts as failed."""
        return any(report.failed for report in self.games)

    @property
    def poisoned(self) -> bool:
        """Return whether any puzzle was given up after its workers died of it."""
        return any(report.poisoned_jobs for report in self.games)

    @property
    def needs_attention(self) -> bool:
        """Return whether anything of any game needs attention."""
        return any(report.needs_attention for report in self.games)

    def of(self, game: str) -> GameReport:
        """Return the section of a game."""
        return next(report for report in self.games if report.game == game)

    def sentence(self) -> str:
        """Summarize in one sentence which games succeeded."""
        bad = [report.game for report in self.games if report.failed]
        good = [report.game for report in self.games if not report.failed]
        if not bad:
            return f"{', '.join(good)}: all done in {self.wall_seconds:.1f} s."
        done = f"; {', '.join(good)} {'is' if len(good) == 1 else 'are'} done" if good else ""
        return f"{', '.join(bad)} failed{done}, in {self.wall_seconds:.1f} s."

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "failed": self.failed,
            "wall_seconds": self.wall_seconds,
            "games": {report.game: report.to_json() for report in self.games},
        }


class NightFailedError(NightgridError):
    """A game failed; everything else is done, and `report` has a section for each."""

    def __init__(self, report: NightReport) -> None:
        why = (f"{r.game}: {r.failure or r.source_trouble}" for r in report.games if r.failed)
        super().__init__(" ".join([report.sentence(), *why]))
        self.report = report
