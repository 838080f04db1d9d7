"""Drop the words of boards that were asked about by themselves, or counted, once no board has them.

A dictionary is of no game and is named by its words, so several boards may refer to one.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress

from nightgrid.archive.corpus.plans import CORPORA, read_corpus_plan
from nightgrid.archive.ingest.puzzles import puzzles_folder
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import ASKED_FILES
from nightgrid.archive.skipped_files import skip_file
from nightgrid.archive.words.dictionaries import KEY, SINGLES, single_path
from nightgrid.flows.maintenance.retention.ages import delete_old, unix_ns
from nightgrid.flows.maintenance.retention.reading import (
    UnreadableError,
    readable,
    scan_files,
    wanted_records,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES, game_plug
from nightgrid.workers.runs.manifest import read_about
from nightgrid.workers.runs.run_files import asked_path, plan_path
from nightgrid.workers.upkeep import ends_of_runs

SHARE_BYTES = 64 * 1024**2
"""How many bytes of words are dropped before references are looked for again. Until then they are
kept in memory."""


def drop_dictionaries(
    lake: Lake, before: dt.datetime, check: Callable[[], None]
) -> tuple[int, int]:
    """Drop dictionaries that no board refers to; count them and their bytes.

    One stays while a job that is wanted, a run whose folder is there, a puzzle of a question, a
    corpus or a board of nights refers to it, and while its file is younger than `before`: a board
    that is asked about again writes it anew. Nothing is dropped while one of the files that may
    refer to it cannot be read; that file is named.
    """
    limit_ns = unix_ns(before)
    stamps = lake.stamps(SINGLES).items()
    old = {path: size for path, (size, written_ns) in stamps if written_ns < limit_ns}
    needed = _needed_paths(lake) if old else None
    if needed is None:
        return 0, 0
    count = freed = 0
    for paths in _shares({path: old[path] for path in sorted(old.keys() - needed)}):
        dropped = _drop(lake, paths, limit_ns, check)
        count, freed = count + len(dropped), freed + sum(map(len, dropped.values()))
    return count, freed


def _shares(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Divide files into shares whose bytes fit into memory."""
    share, share_bytes = list[str](), 0
    for path, size in sizes.items():
        if share and share_bytes + size > SHARE_BYTES:
            yield share
            share, share_bytes = [], 0
        share.append(path)
        share_bytes += size
    if share:
        yield share


def _drop(
    lake: Lake, paths: Iterable[str], limit_ns: int, check: Callable[[], None]
) -> dict[str, bytes]:
    """Drop dictionaries, and put back those that a board refers to by now; return the others.

    A board may be asked about between the look at a file's age and its deletion. Whatever asks
    about it looks for the words once more after it has written that it needs them.
    """
    dropped: dict[str, bytes] = {}
    needed: Collection[str] | None = None
    try:
        for path in paths:
            check()
            try:
                words = lake.read_bytes(path)
            except MissingFileError:
                continue
            except PermanentError as error:
                skip_file(path, error)  # It could not be put back.
                continue
            if delete_old(lake, path, limit_ns) is not None:
                dropped[path] = words
        needed = _needed_paths(lake) if dropped else ()
    finally:
        # None: it is not known what is needed, so all of them are put back.
        for path in [path for path in dropped if needed is None or path in needed]:
            lake.write_bytes(path, dropped.pop(path))
    return dropped


def _needed_paths(lake: Lake) -> set[str] | None:
    """Name the files that boards refer to; None while a file cannot be read, which is named."""
    try:
        return {single_path(name) for name in _needed(lake)}
    except UnreadableError as error:
        skip_file(error.path, error)
        return None


def _needed(lake: Lake) -> Iterator[str]:
    """Name the dictionaries that boards refer to. Raises UnreadableError."""
    # In this order: what is worked has a record or a run until its board is kept elsewhere.
    for record in wanted_records(lake):
        yield str(record.puzzle.get(KEY, ""))
    runs, _ = ends_of_runs(lake)
    for run_id in sorted(runs):
        about = None
        with suppress(MissingFileError), readable(plan_path(run_id)):
            about = read_about(lake, plan_path(run_id)) or read_about(lake, asked_path(run_id))
        if about is not None:
            yield from _named_in(lake, f"runs/run={run_id}/manifest", about["game"])
    for path, table in scan_files(lake, ASKED_FILES, ["puzzle"]):
        for text in table.column("puzzle").to_pylist():
            with readable(path):
                name = _named_by(text)
            yield name
    for folder in lake.folders(CORPORA):
        path = f"{folder}/plan.json"
        with readable(path):
            plan = read_corpus_plan(lake, path)
        if plan is not None:
            yield from _named_in(lake, f"{folder}/puzzles", plan.game)
    for game in GAMES:
        yield from _named_in(lake, puzzles_folder(game), game)


def _named_by(text: str) -> str:
    """Name the dictionary of a puzzle; "": it has none. Raises DamagedFileError."""
    try:
        return str(json.loads(text).get(KEY, ""))
    except (ValueError, AttributeError, RecursionError) as error:
        raise DamagedFileError(f"the text of a puzzle is no JSON object: {text!r:.60}") from error


def _named_in(lake: Lake, folder: str, game: str) -> Iterator[str]:
    """Name the dictionaries of the boards in the files of a folder."""
    if game not in GAMES or not game_plug(game).own_words:
        return
    for path in lake.list(folder):
        # What is gone meanwhile was dropped, or merged into a file that its readers see.
        with suppress(MissingFileError), readable(path):
            if path.endswith(".parquet"):
                for table in lake.iter_row_groups(path, [KEY]):
                    yield from table.column(KEY).to_pylist()
