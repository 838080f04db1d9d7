"""The lake: tables and bytes under a local folder or in an object store, every write atomic."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from nightgrid.archive.lake.conforming import columns_to_read, select, shaped
from nightgrid.archive.lake.encoding import check_file, check_group, check_rows, filled
from nightgrid.archive.lake.faults import DamagedFileError, storage_errors
from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.location import check_path
from nightgrid.archive.lake.storage_kinds import Storage, open_storage
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    import pyarrow.dataset as ds

ROW_GROUP_ROWS = 65_536
SMALL_ROWS = 4096
"""Rows of which all columns are read at once, and by one thread: others take longer to begin."""
STAGING_KEPT_S = 24 * 3600.0
"""Age after which a staged file can only be what a killed writer left behind."""


# Other pools keep what they had at the peak: a driver of long runs 60 MB more.
pa.set_memory_pool(pa.system_memory_pool())


class Lake:
    """A lake at a local folder or in an object store, through pyarrow filesystems.

    Paths are relative to the lake, with "/" between names. A file is either as it was or entirely
    new: locally it is staged, fsynced, renamed and its folder fsynced; in an object store it is
    one upload, which becomes visible when it is complete. Open a lake after a fork, not before:
    clients of object stores do not survive one.

    Raises TransientError where trying again may help (network, full disk) and PermanentError
    where it will not (no permission, damaged file, path outside of the lake).
    """

    def __init__(self, storage: Storage) -> None:
        self.url = storage.url
        self._storage = storage
        self._fs = storage.filesystem

    def __repr__(self) -> str:
        return f"Lake({self.url!r})"

    def location(self, path: str) -> str:
        """Write where a file lies, for people: under the URL without its options."""
        return f"{self.url.partition('?')[0].rstrip('/')}/{path}"

    @classmethod
    def open(cls, url: str) -> Lake:
        """Open a lake: "lake", "/abs/lake", "file:///abs/lake", or "s3://bucket/prefix?OPTIONS".

        gs:// and az:// likewise. OPTIONS are endpoint_override (host:port, or http://host:port),
        scheme and anonymous=true; on S3 region, on Azure account. Credentials come from the
        environment or the service's files, never from the URL, because URLs are logged. Nothing
        is created before the first write.

        Raises PermanentError for any other URL.
        """
        return cls(open_storage(url))

    def write_table(self, path: str, table: pa.Table) -> None:
        """Write a table as one Parquet file; the same table gives the same bytes.

        The table carries one of the schemas of `nightgrid.archive.lake.tables`.
        """
        self._commit(path, filled(path, [table], table.schema, row_group_rows=ROW_GROUP_ROWS))

    def create_table(self, path: str, table: pa.Table) -> bool:
        """Write a table unless the file is there already; tell whether it was written.

        Of several writers at once, on any hosts, one does.
        """
        fill = filled(path, [table], table.schema, row_group_rows=ROW_GROUP_ROWS)
        return self._commit(path, fill, new=True)

    def write_row_groups(
        self, path: str, tables: Iterable[pa.Table], schema: pa.Schema, *, new: bool = False
    ) -> bool:
        """Write one Parquet file with one row group per table, in the order given.

        With `new`, unless the file is there already, as `create_table`; tells whether it wrote.
        """
        fill = filled(path, tables, schema)
        return self._commit(path, fill, new=new)

    def stream_row_groups(
        self,
        tables: Iterable[pa.Table],
        schema: pa.Schema,
        metadata: Callable[[], Mapping[str, str]],
        path: Callable[[], str],
    ) -> bool:
        """Write one new Parquet file of which neither name nor metadata are known until its end.

        `metadata` is asked for what is added to the schema's after the last table, and `path` for
        the name then, and again when there is a file of that name, until it says the same: then
        nothing is written, which is told. What `tables` and the two raise leaves no file behind.
        """
        fill = filled("a streamed file", tables, schema, metadata=metadata)
        return self._commit(lambda: check_path(path()), fill, new=True)

    def write_spill(self, path: str, fill: Callable[[pa.NativeFile], Any]) -> None:
        """Let `fill` write a file that can be made again.

        It is written like any other, but nothing waits until it is on the disk: after a power
        failure it may be damaged, which its reader has to notice.
        """
        self._commit(path, fill, durable=False)

    def write_bytes(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write a file of bytes; what is not `durable` as `write_spill`."""
        self._commit(path, lambda sink: sink.write(data), durable=durable)

    def create_bytes(self, path: str, data: bytes) -> bool:
        """Write a file of bytes unless the file is there already, as `create_table`."""
        return self._commit(path, lambda sink: sink.write(data), new=True)

    def read_bytes(self, path: str) -> bytes:
        """Read a whole file.

        Raises MissingFileError when it does not exist.
        """
        check_path(path)
        with storage_errors(path), self._fs.open_input_file(path) as source:
            return bytes(source.read())

    def read_table(
        self, path: str, schema: pa.Schema, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Read one Parquet file, or every *.parquet under a folder in the order of their names.

        Columns are cast to `schema` and stand in its order (or in that of `columns`); a nullable
        column that a file lacks is derived (nightgrid.archive.lake.conforming) or null. What does
        not exist is an empty table.
        """
        wanted = schema if columns is None else select(schema, columns)
        tables = [self.read_file(name, wanted) for name in self._parquet_files(path)]
        return pa.concat_tables(tables) if tables else wanted.empty_table()

    def read_row_group(
        self, path: str, index: int, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Read one row group of a Parquet file: see `read_row_groups`."""
        return self.read_row_groups(path, [index], columns)

    def read_row_groups(
        self,
        path: str,
        indices: Sequence[int],
        columns: Sequence[str] | None = None,
        *,
        without: Collection[str] = (),
    ) -> pa.Table:
        """Read row groups of a Parquet file, one after the other, as they were written.

        All columns but those `without`, or `columns`. Raises MissingFileError when the file does
        not exist, PermanentError for an index that is out of range.
        """
        with self.open_parquet(path) as file:
            for index in indices:
                if not 0 <= index < file.num_row_groups:
                    raise PermanentError(
                        f"{path}: row group {index} of {file.num_row_groups} does not exist"
                    )
            groups = builtins.list(indices)
            names = file.schema_arrow.names if columns is None else columns
            schema = select(file.schema_arrow, [name for name in names if name not in without])
            rows = sum(file.metadata.row_group(index).num_rows for index in groups)
            # All columns of many rows at once would take several times the memory of the table.
            many = rows > SMALL_ROWS
            at_once = [[n] for n in schema.names] if many else [schema.names]
            found = [file.read_row_groups(groups, names, use_threads=many) for names in at_once]
            read = {name: part.column(name) for part in found for name in part.column_names}
            return pa.table([read[name] for name in schema.names], schema=schema)

    def iter_row_groups(self, path: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read columns of a Parquet file, one row group after the other."""
        with self.open_parquet(path) as file:
            for index in range(file.num_row_groups):
                yield file.read_row_group(index, columns=builtins.list(columns))

    def row_groups(self, path: str) -> builtins.list[int]:
        """Count the rows of every row group of a Parquet file, reading only its footer."""
        with self.open_parquet(path) as file:
            return [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]

    def schema(self, path: str) -> pa.Schema:
        """Read the schema of a Parquet file, with all metadata of the file."""
        with self.open_parquet(path) as file:
            return file.schema_arrow.with_metadata(file.metadata.metadata)

    @contextmanager
    def open_parquet(self, path: str) -> Iterator[pq.ParquetFile]:
        """Open one Parquet file; the checksums of its pages are compared as they are read."""
        check_path(path)
        with (
            storage_errors(path),
            self._fs.open_input_file(path) as source,
            pq.ParquetFile(source, page_checksum_verification=True) as file,
        ):
            check_file(file, source.size(), path)
            yield file

    def dataset(self, path: str, schema: pa.Schema) -> ds.Dataset:
        """Open the Parquet files that `read_table` would read as a dataset, for filtered scans."""
        files = self._parquet_files(path)
        with storage_errors(path):
            return self.dataset_of(files, schema)

    def dataset_of(self, paths: Sequence[str], schema: pa.Schema) -> ds.Dataset:
        """Open Parquet files as a dataset."""
        import pyarrow.dataset as ds  # 40 MB, which drivers and workers can do without

        if not paths:
            return ds.dataset(schema.empty_table())
        return ds.FileSystemDataset.from_paths(
            paths, schema=schema, format=ds.ParquetFileFormat(), filesystem=self._fs
        )

    @contextmanager
    def reading(self, path: str) -> Iterator[None]:
        """Turn what fails while a dataset of these files is read into errors that name the file."""
        try:
            with storage_errors(path):
                yield
        except DamagedFileError as error:
            raise DamagedFileError(f"{path} is damaged: {self._damage(path)}") from error

    def _damage(self, path: str) -> str:
        for name in self._parquet_files(path):
            try:
                self.schema(name)
            except DamagedFileError:
                return f"{name} cannot be read as Parquet"
        return "a column of a file cannot be read, or is of another type"

    def scan(self, path: str, schema: pa.Schema, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Read columns of a folder's Parquet files as `read_table` does, batch by batch."""
        for name in self._parquet_files(path):
            yield from self.scan_file(name, schema, columns)

    def scan_file(
        self,
        path: str,
        schema: pa.Schema,
        columns: Sequence[str],
        groups: Callable[[pq.FileMetaData], builtins.list[int]] | None = None,
    ) -> Iterator[pa.Table]:
        """Read columns of one Parquet file as `read_table` does, row group by row group.

        `groups` chooses row groups. Raises MissingFileError when the file does not exist,
        DamagedFileError for rows that were changed since they were written.
        """
        wanted = select(schema, columns)
        with self.open_parquet(path) as file:
            there = columns_to_read(wanted.names, file.schema_arrow.names)
            for number in range(file.num_row_groups) if groups is None else groups(file.metadata):
                table = shaped(file.read_row_group(number, columns=there), wanted, path)
                check_group(table, file.metadata, number, path)
                yield table

    def list(self, prefix: str = "") -> builtins.list[str]:
        """List the files under a folder, at any depth, sorted; half-written files never show."""
        return sorted(self.sizes(prefix))

    def sizes(self, prefix: str = "", *, deep: bool = True) -> dict[str, int]:
        """List the files under a folder, or not `deep` those in it, with their sizes in bytes."""
        found = self.stamps(prefix, deep=deep).items()
        return {path: size for path, (size, _) in found if not path.startswith(f"{STAGING}/")}

    def stamps(self, folder: str, *, deep: bool = False) -> dict[str, tuple[int, int]]:
        """List the files of a folder: their bytes, and when they were written, ns since 1970."""
        files = (i for i in self._infos(folder, deep=deep) if i.type == pafs.FileType.File)
        return {info.path: (info.size, info.mtime_ns) for info in files}

    def folders(self, prefix: str, *, deep: bool = False) -> builtins.list[str]:
        """List the folders that lie in a folder, or with `deep` at any depth, sorted."""
        found = self._infos(prefix, deep=deep)
        return sorted(info.path for info in found if info.type == pafs.FileType.Directory)

    def _infos(self, prefix: str, *, deep: bool) -> builtins.list[pafs.FileInfo]:
        if prefix:
            check_path(prefix)
        selector = pafs.FileSelector(prefix, allow_not_found=True, recursive=deep)
        with storage_errors(prefix or self.url):
            try:
                found: builtins.list[pafs.FileInfo] = self._fs.get_file_info(selector)
            except NotADirectoryError:
                return []
            except FileNotFoundError:  # made just between two looks of Arrow's
                return self._infos(prefix, deep=deep)
        return found

    def exists(self, path: str) -> bool:
        """Tell whether a file or a folder exists."""
        return self._type(path) in (pafs.FileType.File, pafs.FileType.Directory)

    def delete(self, path: str, *, durable: bool = True) -> None:
        """Delete a file; one that does not exist is no error.

        What is not `durable` may be there again after a power failure.
        """
        check_path(path)
        with storage_errors(path):
            try:
                self._fs.delete_file(path)
            except FileNotFoundError:
                return
        if durable:
            self._storage.sync_deleted(path)

    def delete_folder(self, path: str, *, last: str) -> None:
        """Delete all files under a folder, at the end the one called `last`."""
        check_path(path)
        with storage_errors(path):
            self._storage.delete_folder(path, last)

    def sweep_staging(self, older_than_s: float = STAGING_KEPT_S) -> int:
        """Delete what killed writers left half-written; return how many files that were."""
        with storage_errors(STAGING):
            return self._storage.sweep(older_than_s)

    def _commit(
        self,
        path: str | Callable[[], str],
        fill: Callable[[pa.NativeFile], Any],
        *,
        new: bool = False,
        durable: bool = True,
    ) -> bool:
        if isinstance(path, str):
            check_path(path)
        name = path if isinstance(path, str) else "a streamed file"
        with storage_errors(name, writing=True, place=self.url):
            return self._storage.commit(path, fill, new=new, durable=durable)

    def _type(self, path: str) -> pafs.FileType:
        check_path(path)
        with storage_errors(path):
            return self._fs.get_file_info(path).type

    def _parquet_files(self, path: str) -> builtins.list[str]:
        if self._type(path) == pafs.FileType.File:
            return [path]
        return [name for name in self.list(path) if name.endswith(".parquet")]

    def read_file(self, path: str, schema: pa.Schema) -> pa.Table:
        """Read one Parquet file; raises MissingFileError, not as `read_table`, for none."""
        return self.read_with_metadata(path, schema)[0]

    def read_with_metadata(self, path: str, schema: pa.Schema) -> tuple[pa.Table, dict[bytes, Any]]:
        """Read one file as `read_file`, compared with the sums of its rows, and its metadata."""
        with self.open_parquet(path) as file:
            there = columns_to_read(schema.names, file.schema_arrow.names)
            many = file.metadata.num_rows > SMALL_ROWS
            table = shaped(file.read(columns=there, use_threads=many), schema, path)
            told = file.metadata.metadata or {}
            check_rows(table, told, path)
        return table, told
