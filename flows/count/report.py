"""The report of a count: one sentence, every figure, and how to query the tables further."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass, field
from typing import Any

from nightgrid.archive.corpus.corpus import LAKE
from nightgrid.archive.games.generator_spec import is_generator_spec
from nightgrid.flows.attention import CONTRADICTION, QUARANTINE, AttentionItem, attention_sections
from nightgrid.flows.count.figures import Figures
from nightgrid.flows.runs import figures_table
from nightgrid.solvers.algebra import Status
from nightgrid.workers.runs.unanswered_jobs import Retry

_RETRIED = (Status.POISON, Status.OVER_BUDGET, Status.INVALID)
"""Statuses that --retry solves again, in the order of the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountReport:
    """The figures of one count."""

    corpus: str
    corpus_id: str
    game: str
    ask: str
    rules: str = ""
    lexicon_id: str = ""
    solver_version: str = ""
    rows: int = 0
    """Valid puzzles of the corpus, including repeated ones."""
    quarantined: int = 0
    """Rows of the corpus that broke a rule."""
    run_id: str | None = None
    """None if every puzzle was answered before."""
    planned: int = 0
    """Puzzles without an earlier answer, each once."""
    already_known: int = 0
    """Puzzles with an earlier answer."""
    resumed: bool = False
    """Whether an earlier call has started the run."""
    finished_before: bool = False
    """Whether there was nothing left to do."""
    chunks_worked: int = 0
    chunks_found: int = 0
    """Chunks that earlier calls had finished."""
    jobs_worked: int = 0
    """Jobs whose answer was completed in this call."""
    failures: int = 0
    states_worked: int = 0
    """States that solvers kept in this call."""
    solve_seconds: float = 0.0
    wall_seconds: float = 0.0
    contradictions: int = 0
    """Puzzles of the corpus that another version of the solver has answered differently."""
    figures: Figures = field(default_factory=Figures)
    """For all puzzles of the corpus."""
    lake: str = ""
    """The lake of the count."""
    attention: tuple[AttentionItem, ...] = ()
    """What needs attention."""
    paths: dict[str, str] = field(default_factory=dict)
    """Name of each table -> its URL or path."""

    @property
    def jobs_per_second(self) -> float | None:
        """Jobs answered per second of solving; None if there were none."""
        return self.jobs_worked / self.solve_seconds if self.jobs_worked else None

    @property
    def states_per_second(self) -> float | None:
        """States kept per second of solving; None if nothing was solved."""
        return self.states_worked / self.solve_seconds if self.chunks_worked else None

    def nothing_to_do(self) -> str:
        """Return a sentence that everything was answered before, or given up."""
        puzzles = f"{self.planned + self.already_known:,} {self.game} puzzles of {self.corpus}"
        left = [status for status in _RETRIED if self.figures.statuses[status]]
        if left:
            told = (f"{self.figures.statuses[s]:,} {s.replace('_', ' ')}" for s in left)
            which = left[0] if len(left) == 1 else Retry.ALL
            return (
                f"Nothing new to do: of {puzzles}, {' and '.join(told)}, which --retry {which} "
                "works again."
            )
        return f"Nothing to do: all {puzzles} are answered."

    @property
    def poisoned(self) -> bool:
        """Return whether a puzzle is poison: its workers died of it."""
        return bool(self.figures.statuses[Status.POISON])

    @property
    def needs_attention(self) -> bool:
        """Return whether something needs attention.

        A board without a solution is an answer: a count over generated boards asks for just that.
        """
        unsettled = (Status.OVER_BUDGET, Status.INVALID)
        looks = self.quarantined or self.contradictions
        return bool(looks or any(self.figures.statuses[s] for s in unsettled))

    def line(self) -> str:
        """Summarize the count in one line."""
        different = self.planned + self.already_known
        statuses = self.figures.statuses
        rate = self.jobs_per_second
        some = (Status.OVER_BUDGET, Status.INVALID)
        parts = [
            *([f"{statuses[Status.POISON]:,} POISON"] if self.poisoned else []),
            f"{self.rows:,} puzzle{'' if self.rows == 1 else 's'}"
            + (f", {different:,} different" if different != self.rows else "")
            + (f" ({self.already_known:,} already known)" if self.already_known else ""),
            f"{statuses[Status.SOLVED]:,} solved",
            f"{statuses[Status.UNSOLVABLE]:,} unsolvable",
            *(f"{statuses[s]:,} {s.replace('_', ' ')}" for s in some if statuses[s]),
            f"{self.quarantined:,} in quarantine",
            *([f"{_rate(rate)} a second in {self.solve_seconds:.1f} s of solving"] if rate else []),
            f"{self.wall_seconds:.1f} s in all",
        ]
        return f"{self.game}: {', '.join(parts)}"

    def attention_sections(self) -> list[tuple[str, list[str]]]:
        """Return what needs attention: headings with their lines."""
        figures = {**self.figures.statuses, QUARANTINE: self.quarantined}
        figures[CONTRADICTION] = self.contradictions
        return attention_sections(self.attention, figures, self.game, self.lake)

    def query(self) -> str:
        """Return a query: which boards of the corpus have the most solutions."""
        # If nothing was counted, boards are ordered by cost.
        counted = self.ask != "first" and self.figures.largest_count is not None
        figure = "count" if counted else "kernel_ns"
        same = {"ask": self.ask, "rules": self.rules, "lexicon_id": self.lexicon_id}
        same |= {"solver_version": self.solver_version}
        if self.corpus == LAKE:
            # Such a corpus has no rows of its own, and its boards have dates.
            source, place = "puzzles left join editions using (game, puzzle_id)", "date, level"
            same = {"game": self.game, **same}
        else:
            source = "corpora"
            place = "level" if is_generator_spec(self.corpus) else "source"
            place = f"{place}, source_row"
            same = {"corpus_id": self.corpus_id, **same}
        conditions = " and ".join(f"{name} = {_sql(text)}" for name, text in same.items() if text)
        shown = f"select {place}, puzzle_id, {figure} from {source}"  # noqa: S608 - for people
        return (
            f"{shown} join results using (game, puzzle_id) where {conditions} "
            f"order by {figure} desc limit 10"
        )

    def command(self) -> str:
        """Return the query as a shell command."""
        query = self.query()
        quoted = shlex.quote(query) if set(query) & set('"\\$`!') else f'"{query}"'
        return f"nightgrid query {quoted} --lake {shlex.quote(self.lake)}"

    def table(self) -> list[tuple[str, str]]:
        """List the figures as (name, value) for a table."""
        names = (
            *("corpus", "game", "rows", "quarantined", "contradictions", "already_known", "run_id"),
            *("chunks_found", "chunks_worked", "failures", "jobs_per_second", "states_per_second"),
            *("solve_seconds", "wall_seconds"),
        )
        figures = {
            **{name: getattr(self, name) for name in names},
            **self.figures.statuses,
            "states": self.figures.states,
            "kernel_seconds": self.figures.kernel_ns / 1e9,
        }
        return figures_table(figures)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        figures = self.figures
        fields = {
            name.name: getattr(self, name.name)
            for name in dataclasses.fields(self)
            if name.name not in ("figures", "attention")
        }
        largest = None
        if figures.largest_count is not None:
            largest = {"count": figures.largest_count, "puzzle_id": figures.largest_puzzle}
        return {
            **fields,
            "jobs_per_second": self.jobs_per_second,
            "states_per_second": self.states_per_second,
            "statuses": dict(figures.statuses),
            "attention": [dataclasses.asdict(item) for item in self.attention],
            "states": figures.states,
            "kernel_ns": figures.kernel_ns,
            "distribution": dict(figures.distribution()),
            "values": {str(value): figures.values[value] for value in sorted(figures.values)},
            "largest": largest,
            "query": self.query(),
        }


def _sql(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def _rate(number: float) -> str:
    """Format a rate, with two digits if it is low."""
    return f"{number:,.0f}" if number >= 10 or not number else f"{number:.2g}"
