"""One night as a program, for tests that kill it.

Prints the report, and whether Prefect was imported, as one JSON object.
"""

from __future__ import annotations

import argparse
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

    from nightgrid.flows.night.night import work_night
    from nightgrid.flows.night.report import NightFailedError
    from nightgrid.flows.night.settings import NightGame, NightSettings
    from nightgrid.flows.runs import Watch
    from nightgrid.flows.start import run_night
    from nightgrid.workers.runs.plan import plan_pass as chunking
    from nightgrid.workers.settings import Settings

    # As in tests.flows.conftest.
    chunking.CHUNK_MIN_S = 0.002

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def deadly(name, step):
        def run(*arguments):
            step(*arguments)
            die()

        return run if name == options.kill else step

    def on_progress(progress) -> None:
        if options.kill == "solving" and progress.chunks_done:
            die()

    games = [NightGame(source=options.source)]
    if options.letters:
        games.insert(0, NightGame(source=options.letters, game="letterboxed"))
    settings = NightSettings(
        games=tuple(games), executor="inline", workers=Settings(lake=options.lake)
    )
    watch = Watch(on_progress=on_progress)
    try:
        if options.kill and options.kill != "solving":
            report = work_night(settings, watch, as_step=deadly)
        else:
            prefect = True if options.prefect else None if options.without_prefect else False
            report = run_night(settings, watch, prefect=prefect)
    except NightFailedError as error:
        report = error.report
    imported = sys.modules.get("prefect") is not None
    print(json.dumps({"report": report.to_json(), "prefect": imported}))


if __name__ == "__main__":
    main()
