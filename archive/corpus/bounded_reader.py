"""Read a row group of a foreign Parquet file in a child process with bounded memory.

Repeated values compress to almost nothing: a file of 3 KB can hold gigabytes. Arrow also crashes
the process on some damaged footers. In a child process, both are faults of one row group.

`python -m nightgrid.archive.corpus.bounded_reader PATH GROUP COLUMN...` writes an Arrow stream to
stdout, or one sentence to stderr.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

BATCH_ROWS = 2_048
"""Most rows that are read at once and held as Python objects."""
BATCH_BYTES = 2**24
"""Approximate bytes of a batch; batches of large boards have fewer rows."""
LIST_VALUES_MAX = 2**16
"""Most values of a list in one row: no game has larger boards."""
ROWS_MAX = 2**24
"""Most rows of a row group; equal rows take no space in a file."""
TEXT_BYTES_MAX = 256
"""Most bytes of a text in one row; ids have 32."""
MEMORY_BYTES = 2**30
"""Memory limit for reading a row group."""
_UNREADABLE = 3
"""Exit code of the child if stderr says what is wrong with the row group."""


class UnreadableGroupError(Exception):
    """A row group that is damaged or needs too much memory; the message says which."""


def read_batches(path: Path, group: int, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read columns of a row group, BATCH_ROWS rows at a time.

    Raises UnreadableGroupError, possibly after some batches.
    """
    command = _command(path, group, columns)
    # Other allocators would reserve a gigabyte upfront.
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            try:
                with pa.ipc.open_stream(child.stdout) as stream:
                    for batch in stream:
                        yield pa.Table.from_batches([batch])
            except pa.ArrowException:
                # The stream was closed early, and the child may still be writing.
                child.stdout.close()
            told = child.stderr.read().decode(errors="replace")
            if child.wait() == _UNREADABLE or child.returncode < 0:
                raise UnreadableGroupError(told if child.returncode > 0 else "its reader died")
            if child.returncode:
                raise RuntimeError(told)
        finally:
            child.kill()


def _command(path: Path, group: int, columns: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", __name__, str(path), str(group), *columns]


def _write_batches(path: str, group: int, columns: Sequence[str]) -> None:
    with pq.ParquetFile(path) as file:
        if (rows := file.metadata.row_group(group).num_rows) > ROWS_MAX:
            raise UnreadableGroupError(f"it has {rows:,} rows; expected at most {ROWS_MAX:,}")
        schema = pa.schema([file.schema_arrow.field(name) for name in columns])
        with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
            for batch in file.iter_batches(BATCH_ROWS, [group], columns, use_threads=False):
                _check_values(batch)
                rows = max(1, batch.num_rows * BATCH_BYTES // max(batch.nbytes, BATCH_BYTES))
                for start in range(0, batch.num_rows, rows):
                    stream.write_batch(batch.slice(start, rows).select(columns))


def _check_values(batch: pa.RecordBatch) -> None:
    """Raise UnreadableGroupError for a list or text that is too large for a board."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        kind = column.type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        if not is_text and not is_list and not pa.types.is_fixed_size_list(kind):
            continue
        lengths = pc.binary_length(column) if is_text else pc.list_value_length(column)
        longest, most = pc.max(lengths).as_py() or 0, TEXT_BYTES_MAX if is_text else LIST_VALUES_MAX
        if longest > most:
            what = f"a text of {longest:,} bytes" if is_text else f"a list of {longest:,} values"
            raise UnreadableGroupError(f"{name} has {what}; expected at most {most:,}")


def _limit_memory() -> None:
    """Allow this process MEMORY_BYTES more than it uses now, within its existing limit."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    inherited = resource.getrlimit(resource.RLIMIT_AS)[1]
    bounds = (inherited, used + MEMORY_BYTES)
    limit = min(bound for bound in bounds if bound != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _main() -> int:
    path, group, *columns = sys.argv[1:]
    if sys.platform == "linux":  # Others bound no address space.
        _limit_memory()
    try:
        _write_batches(path, int(group), columns)
    except (MemoryError, pa.ArrowMemoryError):
        message = f"it takes more than {MEMORY_BYTES:,} bytes of memory; write smaller row groups"
    except (UnreadableGroupError, pa.ArrowException, OSError) as error:
        message = str(error).translate({ord("\n"): " "})
    else:
        return 0
    sys.stderr.write(message)
    return _UNREADABLE


if __name__ == "__main__":
    sys.exit(_main())
