"""The inputs of a corpus: payloads, Parquet files or a generator, divided into slices.

A corpus is identified by its inputs: the same contents under the same names are the same corpus.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.games import archive_plug, archived_games
from nightgrid.archive.games.generator_spec import EXAMPLE, is_generator_spec, read_generator_spec
from nightgrid.archive.lake.location import expanded
from nightgrid.archive.payloads.bounded_files import read_file
from nightgrid.archive.sources.folder_layouts import PAYLOAD_SUFFIXES, archive_in
from nightgrid.archive.sources.payloads_in_file import game_found_in, items_in
from nightgrid.solvers.canonical import digest, is_utf8
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME

LAYOUTS = {"generated": "2", "payloads": "4", "parquet": "4"}
"""Version of each kind's layout; raise it if the same inputs would give other tables."""
SLICE_BOARDS = 16_384
"""Boards of one slice of a generated corpus."""
SLICE_PAYLOADS = 1_024
"""Files of one slice of a folder of payloads."""
SAMPLED_PAYLOADS = 16
"""Most files of a folder, and payloads of a file, that are read to detect the game."""
TABLE = ".parquet"
COLUMNS_TOLD = 8
"""Most columns that a message names, for a file of no known game."""
DERIVED = frozenset({"puzzle_id", "game", "size"})
"""Columns of a puzzles table that are derived from the others, whatever a file has there."""

InputKind = Literal["payloads", "parquet", "generated"]


class InputFile(NamedTuple):
    """A file of a corpus, or a row group of one."""

    source: str
    """Its path relative to the named folder."""
    row_group: int | None
    body_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of one corpus."""

    kind: InputKind
    game: str
    name: str
    """The spec as given; a generator's in its canonical form."""
    corpus_id: str
    slices: int
    boards: int | None = None
    """Number of boards of a generator; None for files, which have to be read to know."""
    base: str = ""
    """The folder to which sources are relative; "" for a generator."""
    files: tuple[InputFile, ...] = ()
    """None for a generator."""

    def of_slice(self, number: int) -> Inputs:
        """Return the inputs with only the files of one slice."""
        size = SLICE_PAYLOADS if self.kind == "payloads" else 1
        return replace(self, files=self.files[number * size : (number + 1) * size])


def game_of_spec(spec: str, game: str | None = None) -> str:
    """Return the game of any spec but `lake`; a few files are sampled.

    Raises PermanentError as `read_inputs` does.
    """
    if is_generator_spec(spec):
        return read_inputs(spec, game).game
    kind, base, paths = _found(spec)
    if game is not None:
        return game
    return _game_of_payloads(spec, base, paths) if kind == "payloads" else _game_of_tables(paths)


def read_inputs(spec: str, game: str | None = None) -> Inputs:
    """Read the inputs of any spec but `lake`.

    With `game` None, a generator names it, and files are sampled. Raises PermanentError for an
    invalid spec, for files without anything to count, and for the wrong game.
    """
    if is_generator_spec(spec):
        generated = read_generator_spec(spec)
        if game not in (None, generated.game):
            raise PermanentError(f"{spec!r:.80} makes boards of {generated.game}, not of {game}")
        return Inputs(
            kind="generated",
            game=generated.game,
            name=str(generated),
            corpus_id=digest("corpus", LAYOUTS["generated"], str(generated)),
            slices=-(-generated.boards // SLICE_BOARDS),
            boards=generated.boards,
        )
    kind, base, paths = _found(spec)
    if kind == "payloads":
        game = game or _game_of_payloads(spec, base, paths)
        files = [file for path in paths for file in _input_files(base, path, [None])]
        return _inputs("payloads", game, spec, base, files)
    return _parquet(spec, base, paths, game)


def needed_columns(game: str) -> tuple[str, ...]:
    """Return the columns that are read of a Parquet file of puzzles."""
    return tuple(name for name in archive_plug(game).puzzles().names if name not in DERIVED)


def _found(spec: str) -> tuple[InputKind, Path, list[Path]]:
    """Find the files of a spec: their kind, and the folder to which sources are relative."""
    path = expanded(spec)
    if not path.exists():
        raise PermanentError(
            f"corpus {spec!r:.200} does not exist; expected a folder of payloads, a Parquet file or"
            f" folder, lake, or a generator spec such as {EXAMPLE}"
        )
    base = path.parent if path.is_file() else path
    paths = [f.path for f in archive_in(path, (*PAYLOAD_SUFFIXES, TABLE))[0] if f.path.is_file()]
    for name in map(str, paths):
        if not is_utf8(name):
            raise PermanentError(f"{name!r:.200} is not UTF-8; expected a name that is")
    tables = [p for p in paths if p.suffix == TABLE]
    if tables and len(tables) == len(paths):
        return "parquet", base, tables
    if paths and not tables:
        return "payloads", base, paths
    trouble = "payloads and Parquet files" if tables else "no payload and no Parquet file"
    raise PermanentError(f"corpus {spec!r:.200} has {trouble}; expected one kind of files")


def _game_of_payloads(spec: str, base: Path, paths: list[Path]) -> str:
    """Detect the game of payloads from some of them; ignore invalid ones."""
    told: dict[str, str] = {}
    for path in paths[:: -(-len(paths) // SAMPLED_PAYLOADS)]:
        with suppress(PermanentError):
            for item in islice(items_in(read_file(path), path.name), SAMPLED_PAYLOADS):
                if game := game_found_in(item):
                    told.setdefault(game, path.relative_to(base).as_posix())
    if len(told) > 1:
        seen = " and ".join(f"{game} ({name})" for game, name in told.items())
        raise PermanentError(
            f"corpus {spec!r:.200} has payloads of several games, {seen}; expected one game, or "
            "--game, which sends those of others to quarantine"
        )
    return next(iter(told), DEFAULT_GAME)


def _game_of_tables(paths: list[Path]) -> str:
    """Return the game of the first readable table, or raise what is wrong with it."""
    why: DamagedInputError | None = None
    for path in paths:
        try:
            with open_parquet(path) as file:
                return _game_of_columns(path, file.schema_arrow, None)
        except DamagedInputError as error:
            why = why or error
    assert why is not None
    raise why


def _parquet(spec: str, base: Path, paths: list[Path], game: str | None) -> Inputs:
    """Plan the row groups of tables; an unreadable table counts as one group."""
    told = _game_of_tables(paths) if game is None else game
    files: list[InputFile] = []
    for path in paths:
        groups: list[int | None] = [None]
        try:
            with open_parquet(path) as file:
                _game_of_columns(path, file.schema_arrow, told)
                groups = [*range(file.metadata.num_row_groups)]
        except DamagedInputError:
            if len(paths) == 1:
                raise
        files += _input_files(base, path, groups)
    return _inputs("parquet", told, spec, base, files)


def _input_files(base: Path, path: Path, groups: list[int | None]) -> list[InputFile]:
    source, size, sha256 = path.relative_to(base).as_posix(), path.stat().st_size, file_sha256(path)
    return [InputFile(source, group, size, sha256) for group in groups]


def _inputs(kind: InputKind, game: str, spec: str, base: Path, files: list[InputFile]) -> Inputs:
    contents = hashlib.sha256()
    for file in files:
        contents.update(f"{file.source}\0{file.row_group}\0{file.sha256}\n".encode())
    return Inputs(
        kind=kind,
        game=game,
        name=spec,
        corpus_id=digest("corpus", LAYOUTS[kind], kind, game, contents.hexdigest()),
        slices=-(-len(files) // SLICE_PAYLOADS) if kind == "payloads" else len(files),
        base=str(base.resolve()),
        files=tuple(files),
    )


def _game_of_columns(path: Path, schema: pa.Schema, game: str | None) -> str:
    has = set(schema.names)
    fits = [name for name in archived_games() if has.issuperset(needed_columns(name))]
    if game is None and len(fits) == 1:
        return fits[0]
    if game in fits:
        return game
    if game is None:
        names = ", ".join(schema.names[:COLUMNS_TOLD])
        more = max(0, len(schema.names) - COLUMNS_TOLD)
        others = f" and {more} more" if more else ""
        raise PermanentError(
            f"{path.name} has the columns {names:.120}{others}, which are no game's; "
            "expected those of a table of puzzles, as docs/reference/lake.md lists them"
        )
    missing = ", ".join(name for name in needed_columns(game) if name not in has)
    raise PermanentError(f"{path.name} lacks {missing}; expected a table of puzzles of {game}")


class DamagedInputError(PermanentError):
    """A file that is not Parquet, or is damaged. The other files are fine."""


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file.

    Raises DamagedInputError if it is not Parquet, PermanentError if the system denies access.
    """
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        # Arrow's own OSErrors have no errno.
        if isinstance(error, OSError) and error.errno:
            raise PermanentError(f"{path.name} cannot be read: {error.strerror}") from error
        raise DamagedInputError(f"{path.name} cannot be read as Parquet: {error}") from error


def file_sha256(path: Path) -> str:
    """Hash the contents of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_same(path: Path, about: InputFile) -> None:
    """Raise PermanentError if a file has changed since the corpus was planned."""
    if not path.is_file() or file_sha256(path) != about.sha256:
        raise PermanentError(
            f"{path.name} has changed since the corpus was planned; run the same command again"
        )
