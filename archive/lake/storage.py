"""The lake: tables as Parquet files, written atomically and conformed to their schemas on read."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.encoding import SMALL_ROWS, TableFile, filled
from nightgrid.archive.lake.stored_files import StoredFiles

ROW_GROUP_ROWS = 65_536


class Lake(StoredFiles):
    """A lake: files of bytes, and tables in files of Parquet."""

    def write_table(self, path: str, table: pa.Table, *, new: bool = False) -> bool:
        """Write a table as one Parquet file; the same table gives the same bytes.

        The table has one of the schemas of `nightgrid.archive.lake.schemas`. With `new`, as
        `write_bytes` does; returns whether it was written.
        """
        fill = filled(path, [table], table.schema, row_group_rows=ROW_GROUP_ROWS)
        return self._commit(path, fill, new=new)

    def write_row_groups(
        self, path: str, tables: Iterable[pa.Table], schema: pa.Schema, *, new: bool = False
    ) -> bool:
        """Write one Parquet file with one row group per table, in the order given.

        With `new`, as `write_bytes` does; returns whether it was written.
        """
        fill = filled(path, tables, schema)
        return self._commit(path, fill, new=new)

    def read_table(
        self, path: str, schema: pa.Schema, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Read one Parquet file, or every *.parquet under a folder in the order of their names.

        Columns are cast to `schema`, in its order (or in that of `columns`). A missing file or
        folder gives an empty table.
        """
        wanted = schema if columns is None else select(schema, columns)
        tables = [self.read_file(name, wanted) for name in self._parquet_files(path)]
        return pa.concat_tables(tables) if tables else wanted.empty_table()

    def read_file(self, path: str, schema: pa.Schema) -> pa.Table:
        """Read one Parquet file; raises MissingFileError if missing, unlike `read_table`."""
        with self.open_parquet(path) as file:
            return file.whole(schema)

    def read_row_groups(
        self,
        path: str,
        indices: Sequence[int],
        columns: Sequence[str] | None = None,
        *,
        without: Collection[str] = (),
    ) -> pa.Table:
        """Read row groups of a Parquet file one by one, in the order written.

        All columns but those of `without`, or only `columns`. Raises MissingFileError if the file
        does not exist.
        """
        with self.open_parquet(path) as file:
            groups = builtins.list(indices)
            names = file.schema_arrow.names if columns is None else columns
            schema = select(file.schema_arrow, [name for name in names if name not in without])
            rows = sum(file.metadata.row_group(index).num_rows for index in groups)
            # All columns of many rows at once would need several times the memory of the table.
            many = rows > SMALL_ROWS
            at_once = [[n] for n in schema.names] if many else [schema.names]
            found = [file.read_row_groups(groups, names, use_threads=many) for names in at_once]
            read = {name: part.column(name) for part in found for name in part.column_names}
            return pa.table([read[name] for name in schema.names], schema=schema)

    def row_groups(self, path: str) -> builtins.list[int]:
        """Return the rows of each row group of a Parquet file, reading only its footer."""
        with self.open_parquet(path) as file:
            return file.group_rows()

    @contextmanager
    def open_parquet(self, path: str) -> Iterator[TableFile]:
        """Open one Parquet file; page checksums are verified on reading."""
        with self.open_file(path) as source, TableFile(source, path) as file:
            yield file

    def scan(self, path: str, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read columns of a folder's Parquet files as `read_table` does, batch by batch."""
        for name in self._parquet_files(path):
            yield from self.scan_file(name, schema, columns)

    def scan_file(
        self,
        path: str,
        schema: pa.Schema,
        columns: Sequence[str],
        groups: Callable[[TableFile], builtins.list[int]] | None = None,
    ) -> Iterator[pa.Table]:
        """Read columns of one Parquet file as `read_table` does, row group by row group.

        `groups` selects row groups. Raises MissingFileError if the file does not exist,
        DamagedFileError for a damaged one.
        """
        wanted = select(schema, columns)
        with self.open_parquet(path) as file:
            for number in range(file.num_row_groups) if groups is None else groups(file):
                yield file.group(number, wanted)

    def rows_among(
        self, path: str, schema: pa.Schema, columns: Sequence[str], key: str, values: pa.Array
    ) -> pa.Table:
        """Read columns of the rows whose key is among some values.

        Reads the column `key` first, then the others only of row groups with a match. Raises as
        `scan_file`.
        """
        keys, wanted = select(schema, [key]), select(schema, columns)
        found = [wanted.empty_table()]
        for name in self._parquet_files(path):
            with self.open_parquet(name) as file:
                for number in range(file.num_row_groups):
                    match = pc.is_in(file.group(number, keys).column(key), value_set=values)
                    if pc.any(match).as_py():
                        found.append(file.group(number, wanted).filter(match))
        return pa.concat_tables(found)

    def _parquet_files(self, path: str) -> builtins.list[str]:
        if self._type(path) == pafs.FileType.File:
            return [path]
        return [name for name in self.list(path) if name.endswith(".parquet")]
