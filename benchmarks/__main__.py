"""Run the benchmarks: `python -m benchmarks [published batch loose] [--quick] [--write]`."""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys

TABLES = ("published", "batch", "loose", "loose_layers")
_QUICK: dict[str, dict[str, object]] = {
    "published": {"repeats": 3, "cp_sat_limit": 1.0, "trees_limit": 1.0},
    "batch": {"boards": 5_000},
    "loose_layers": {"boards": [(12, 0)], "stage_rows": [3_000, 30_000]},
    "loose": {"sizes": [16], "seeds": 1, "table_gb": 0.5, "seconds": 20.0},
}


def main(table: str | None = None) -> None:
    """Run one table with its own options, or those named on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks" + (f".{table}" if table else ""),
        description="Measure nightgrid beside what a user would pick instead.",
    )
    if table is None:
        parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in TABLES}
    if table is not None:
        modules[table].add_options(parser)
    options = parser.parse_args()
    wanted = [table] if table else (options.tables or list(TABLES))
    for name in wanted:
        if name not in TABLES:
            parser.error(f"unknown table {name!r}; expected {', '.join(TABLES)}")
        own = argparse.ArgumentParser()
        modules[name].add_options(own)
        settings = own.parse_args([])
        if table is not None:
            vars(settings).update(vars(options))
        else:
            vars(settings).update(quick=options.quick, write=options.write)
        if options.quick:
            vars(settings).update(_QUICK[name])
        arguments = [a for a in sys.argv[1:] if a != "--write" and a not in TABLES]
        settings.command = shlex.join(["python", "-m", f"benchmarks.{name}", *arguments])
        modules[name].run(settings)


if __name__ == "__main__":
    main()
