"""Every command of nightgrid: its module, its line in the list of commands, and an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, cast


class Command(NamedTuple):
    """A command: the module that has it, its line in the list of commands, and an example."""

    module: str
    name: str
    line: str
    example: str
    function: str = ""
    """What it is called there, if not like the command."""

    more: str = ""
    """A function there that says more in the command's help, of each game."""

    extra: str = "flows"
    """The extra that brings every package that the command needs."""

    def help(self) -> str:
        """Write the help: the docstring, and what it has to say of each game."""
        text = inspect.getdoc(self.load()) or ""
        if not self.more:
            return text
        more = getattr(import_module(f"nightgrid.service.cli.{self.module}"), self.more)
        return f"{text}\n\n{more()}"

    def load(self) -> Callable[..., int]:
        """Import the function that is the command."""
        module = import_module(f"nightgrid.service.cli.{self.module}")
        return cast(Callable[..., int], getattr(module, self.function or self.name))


COMMANDS = (
    Command("demo", "demo", "See everything at work on the bundled sample archive.", "demo"),
    Command(
        "night",
        "nightly",
        "Fetch an archive and solve what is new.",
        "nightly --source archive/pips --lake lake",
    ),
    Command(
        "schedule",
        "schedule",
        "Serve nights on a schedule that Prefect keeps.",
        "schedule --source archive/pips --lake lake --cron '15 3 * * *'",
    ),
    Command(
        "counting.count",
        "count",
        "Count a corpus of puzzles, from a hundred to a million.",
        "count pips:n=10000,seed=7 --lake lake",
        more="count_help",
    ),
    Command(
        "solve",
        "solve",
        "Solve puzzles here and now.",
        "solve board.json --best 5 --rule words=6",
        more="solve_help",
    ),
    Command(
        "show",
        "show",
        "Draw puzzles without solving them.",
        "show 2026-01-05.json --level easy --solution",
    ),
    Command(
        "play_strands",
        "play",
        "Play Strands boards, word by word.",
        "play 2026-01-05.json --auto",
    ),
    Command(
        "rank",
        "rank",
        "Rank the Strands boards of a lake by how likely each cover was meant.",
        "rank --lake lake",
    ),
    Command(
        "ondemand.submit",
        "submit",
        "Queue puzzles to be solved soon.",
        "submit 2026-01-05.json --ask count",
        extra="worker",
    ),
    Command(
        "ondemand.status",
        "status",
        "Show where on-demand jobs are.",
        "status --watch",
        extra="worker",
    ),
    Command(
        "ondemand.result",
        "result",
        "Print what became of jobs.",
        "result 0123456789abcdef0123456789abcdef --wait 10",
        extra="worker",
    ),
    Command(
        "ondemand.cancel",
        "cancel",
        "Cancel on-demand jobs.",
        "cancel 0123456789abcdef0123456789abcdef",
        extra="worker",
    ),
    Command(
        "listing",
        "list",
        "List puzzles, results or quarantine of a lake.",
        "list results --status unsolvable,over_budget --format csv",
        function="list_rows",
    ),
    Command(
        "queries.query",
        "query",
        "Ask a lake in SQL, over views of its tables.",
        'query "select game, level, max(count) from counts group by all"',
        extra="query",
    ),
    Command(
        "queries.report",
        "report",
        "Write a report of a lake as one HTML file.",
        "report --lake lake",
    ),
    Command(
        "generate",
        "generate",
        "Generate payloads of random solvable boards.",
        "generate --out sample --days 30 --seed 2026",
        more="generate_help",
    ),
    Command(
        "reduce",
        "reduce",
        "Turn hard problems into boards.",
        "reduce planar-strands --random 5 --solve",
    ),
    Command(
        "serving.worker",
        "worker",
        "Run supervised workers until stopped.",
        "worker --lake lake --processes 4",
        extra="worker",
    ),
    Command(
        "serving.serve",
        "serve",
        "Serve solves over HTTP, and a page, until stopped.",
        "serve --lake lake",
        extra="serve",
    ),
    Command("serving.worker", "warmup", "Compile the kernels.", "warmup"),
    Command(
        "lake",
        "lake",
        "Check, repair, upgrade or rebuild a lake, or drop what is old.",
        "lake check --lake lake",
        function="maintain_lake",
    ),
    Command(
        "serving.keys",
        "keys",
        "Say who may use the HTTP service beyond this machine.",
        "keys add alice --per-minute 120 --jobs 20",
        extra="serve",
    ),
    Command("doctor", "doctor", "Check that everything needed is here.", "doctor --lake lake"),
)
"""Every command, in the order of the list of commands."""
