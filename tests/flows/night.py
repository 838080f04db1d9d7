"""One night as a program, for tests that kill it.

Prints the report, and whether Prefect was imported, as one JSON object.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import sys


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("lake")
    parser.add_argument(
        "--kill", default="", help="step after which, or `solving` in which, to die"
    )
    parser.add_argument(
        "--without-prefect", action="store_true", help="as if it were not installed"
    )
    parser.add_argument("--prefect", action="store_true")
    parser.add_argument("--letters", help="source of Letter Boxed, for a night over both games")
    options = parser.parse_args()
    if options.without_prefect:
        sys.modules["prefect"] = None

    from archive import chunking
    from flows import nightly, steps
    from flows.settings import ASKS
    from workers.settings import Settings

    # As tests.flows.conftest has it.
    chunking.CHUNK_MIN_S = 0.002

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def deadly(name):
        step = getattr(nightly.PLAIN, name)

        def run(*arguments):
            step(*arguments)
            die()

        return run

    def on_progress(progress: steps.Progress) -> None:
        if options.kill == "solving" and progress.chunks_done:
            die()

    settings = nightly.NightlySettings(
        source=options.source, executor="inline", workers=Settings(lake=options.lake)
    )
    if options.kill and options.kill != "solving":
        do = dataclasses.replace(nightly.PLAIN, **{options.kill: deadly(options.kill)})
        report = nightly.run_steps(settings, do, on_progress)
    elif options.letters:
        from flows.games import GamesFailedError, run_games

        letters = dataclasses.replace(
            settings, source=options.letters, game="letterboxed", asks=ASKS["letterboxed"]
        )
        try:
            report = run_games([letters, settings])
        except GamesFailedError as error:
            report = error.report
    else:
        prefect = True if options.prefect else None if options.without_prefect else False
        report = nightly.run_nightly(settings, prefect=prefect, on_progress=on_progress)
    imported = sys.modules.get("prefect") is not None
    print(json.dumps({"report": report.to_json(), "prefect": imported}))


if __name__ == "__main__":
    main()
