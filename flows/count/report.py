"""What a count came to: figures, one sentence, where the tables lie, and how to ask them more."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass, field
from typing import Any

from nightgrid.solvers.algebra import Status
from nightgrid.workers.runs.count_figures import Figures


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
    """Sound puzzles of the corpus, those that stand more than once included."""
    quarantined: int = 0
    """Rows of the corpus that broke a rule."""
    run_id: str | None = None
    """None when every puzzle had its answer before."""
    planned: int = 0
    """Puzzles that had no answer, each once."""
    already_known: int = 0
    """Puzzles that had one."""
    resumed: bool = False
    """Whether an earlier call has begun the run."""
    finished_before: bool = False
    """Whether there was nothing left to do."""
    chunks_worked: int = 0
    chunks_found: int = 0
    """Chunks that earlier calls had worked."""
    jobs_worked: int = 0
    """Jobs whose answer was completed in this call."""
    failures: int = 0
    states_worked: int = 0
    """States that solvers kept in this call."""
    solve_seconds: float = 0.0
    wall_seconds: float = 0.0
    figures: Figures = field(default_factory=Figures)
    """Over all puzzles of the corpus."""
    paths: dict[str, str] = field(default_factory=dict)
    """Where the tables lie: name of the table -> URL or path."""

    @property
    def jobs_per_second(self) -> float | None:
        """Jobs answered per second of solving; None when none was."""
        return self.jobs_worked / self.solve_seconds if self.jobs_worked else None

    @property
    def states_per_second(self) -> float | None:
        """States kept per second of solving; None when nothing was worked."""
        return self.states_worked / self.solve_seconds if self.chunks_worked else None

    def sentence(self) -> str:
        """Say in one sentence what the count came to."""
        if self.finished_before:
            return (
                f"Nothing to do: all {self.planned + self.already_known:,} {self.game} puzzles "
                f"of {self.corpus} are answered."
            )
        endings = [
            f"{count:,} {status.value.replace('_', ' ')}"
            for status in Status
            if (count := self.figures.statuses[status.value])
        ]
        known = f"; {self.already_known:,} were known already" if self.already_known else ""
        rate = self.jobs_per_second
        pace = f", {_rate(rate)} a second" if rate else ""
        unsettled = (Status.INVALID, Status.OVER_BUDGET, Status.POISON)
        why = any(self.figures.statuses[status.value] for status in unsettled)
        noun = "puzzle" if self.planned == 1 else "puzzles"
        return (
            f"{self.planned:,} {self.game} {noun} answered in {self.solve_seconds:.1f} s{pace} "
            f"({', '.join(endings)}){known}."
            + (" The column reason of the results says why some have no answer." if why else "")
        )

    def query(self) -> str:
        """Write a line for DuckDB that joins the corpus with its results."""
        rows, results = self.paths["rows"], self.paths["results"]
        conditions = f"r.game = '{self.game}' AND r.ask = '{self.ask}'"
        if self.rules:
            conditions += f" AND r.rules = '{self.rules}'"
        if self.lexicon_id:
            conditions += f" AND r.lexicon_id = '{self.lexicon_id}'"
        if self.already_known:
            # Results of all runs: others may have asked the same with another solver.
            conditions += f" AND r.solver_version = '{self.solver_version}'"
        select = "SELECT c.*, r.status, r.count"
        return (
            f"{select} FROM '{rows}' c JOIN '{results}' r USING (puzzle_id) "
            f"WHERE {conditions} ORDER BY r.count DESC LIMIT 10"
        )

    def command(self) -> str:
        """Write the query as a command for a shell."""
        query = self.query()
        if set(query) & set('"\\$`!'):
            return f"python -c {shlex.quote(f'import duckdb; print(duckdb.sql({query!r}))')}"
        return f'python -c "import duckdb; print(duckdb.sql(\\"{query}\\"))"'

    def rows_of_figures(self) -> list[tuple[str, str]]:
        """List the figures as (name, value) for a table."""
        figures = self.figures
        shown: list[tuple[str, str]] = [
            ("corpus", self.corpus),
            ("game", self.game),
            ("puzzles", f"{self.rows:,}"),
            ("different ones", f"{self.planned + self.already_known:,}"),
        ]
        if self.quarantined:
            shown.append(("in quarantine", f"{self.quarantined:,}"))
        if self.already_known:
            shown.append(("known already", f"{self.already_known:,}"))
        if self.run_id is not None:
            shown.append(("run", self.run_id))
        if self.chunks_found:
            shown.append(("chunks found done", f"{self.chunks_found:,}"))
        if self.chunks_worked:
            shown.append(("chunks worked", f"{self.chunks_worked:,}"))
        for status in Status:
            if figures.statuses[status.value]:
                name = status.value.replace("_", " ")
                shown.append((name, f"{figures.statuses[status.value]:,}"))
        shown.append(("states", f"{figures.states:,}"))
        shown.append(("seconds in kernels", f"{figures.kernel_ns / 1e9:,.1f}"))
        if self.failures:
            shown.append(("failures of chunks", f"{self.failures:,}"))
        if self.jobs_per_second is not None and self.states_per_second is not None:
            shown.append(("jobs a second", _rate(self.jobs_per_second)))
            shown.append(("states a second", f"{self.states_per_second:,.0f}"))
        if self.solve_seconds:
            shown.append(("seconds of solving", f"{self.solve_seconds:.1f}"))
        shown.append(("seconds in all", f"{self.wall_seconds:.1f}"))
        return shown

    def to_json(self) -> dict[str, Any]:
        """Write the report as a JSON object."""
        figures = self.figures
        fields = {
            name.name: getattr(self, name.name)
            for name in dataclasses.fields(self)
            if name.name != "figures"
        }
        largest = None
        if figures.largest_count is not None:
            largest = {"count": figures.largest_count, "puzzle_id": figures.largest_puzzle}
        return {
            **fields,
            "jobs_per_second": self.jobs_per_second,
            "states_per_second": self.states_per_second,
            "statuses": dict(figures.statuses),
            "states": figures.states,
            "kernel_ns": figures.kernel_ns,
            "distribution": dict(figures.distribution()),
            "values": {str(value): figures.values[value] for value in sorted(figures.values)},
            "largest": largest,
            "query": self.query(),
        }

    def to_markdown(self) -> str:
        """Write the report for people."""
        lines = [self.sentence(), "", "| | |", "|---|---|"]
        lines += [f"| {name} | {value} |" for name, value in self.rows_of_figures()]
        spread = self.figures.distribution()
        if spread:
            lines += ["", "| solutions | puzzles |", "|---|---|"]
            lines += [f"| {span} | {number:,} |" for span, number in spread]
        lines += ["", *(f"- {name}: `{path}`" for name, path in self.paths.items())]
        return "\n".join([*lines, "", f"`{self.query()}`", ""])


def _rate(number: float) -> str:
    """Write how many a second: to two digits where they are few."""
    return f"{number:,.0f}" if number >= 10 or not number else f"{number:.2g}"
