"""Every command of nightgrid: its name, its module, and an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, cast


class Command(NamedTuple):
    """A command; its module is loaded only to run or list it."""

    name: str
    module: str
    example: str
    extra: str = "flows"
    """The extra with every package that the command needs."""
    function: str = ""
    """Name of the function in its module, if it differs from the command's."""

    def line(self) -> str:
        """Return its line in the list of commands."""
        return (inspect.getdoc(self.load()) or "").split("\n")[0]

    def load(self) -> Callable[..., int]:
        """Import the function of the command."""
        module = import_module(f"nightgrid.service.cli.{self.module}")
        return cast(Callable[..., int], getattr(module, self.function or self.name))


COMMANDS = (
    Command("demo", "demo", "demo"),
    Command("nightly", "night", "nightly --source archive/pips --lake lake"),
    Command(
        "schedule", "schedule", "schedule --source archive/pips --lake lake --cron '15 3 * * *'"
    ),
    Command("count", "count", "count pips:n=10000,seed=7 --lake lake"),
    Command("solve", "solve", "solve board.json --best 5 --rule words=6"),
    Command("show", "show", "show 2026-01-05.json --level easy --solution"),
    Command("play", "play_strands", "play 2026-01-05.json --auto"),
    Command("rank", "rank", "rank --lake lake"),
    Command("submit", "ondemand.submit", "submit 2026-01-05.json --ask count", "worker"),
    Command("status", "ondemand.status", "status --watch", "worker"),
    Command("result", "ondemand.result", f"result {'0123456789abcdef' * 2} --wait 10", "worker"),
    Command("cancel", "ondemand.cancel", f"cancel {'0123456789abcdef' * 2}", "worker"),
    Command(
        "list",
        "listing",
        "list results --status unsolvable,over_budget --format csv",
        function="list_rows",
    ),
    Command(
        "query",
        "queries.query",
        'query "select game, level, max(count) from counts group by all"',
        "query",
    ),
    Command("report", "queries.report", "report --lake lake"),
    Command(
        "generate",
        "generate",
        "generate --out sample --days 30 --seed 2026",
    ),
    Command("reduce", "reduce", "reduce planar-strands --random 5 --solve"),
    Command("worker", "serving.worker", "worker --lake lake --processes 4", "worker"),
    Command("serve", "serving.serve", "serve --lake lake", "serve"),
    Command("warmup", "serving.worker", "warmup"),
    Command("lake", "lake", "lake check --lake lake", function="maintain_lake"),
    Command("keys", "serving.keys", "keys add alice --per-minute 120 --jobs 20", "serve"),
    Command("doctor", "doctor", "doctor --lake lake"),
)
"""Every command, in listing order."""
