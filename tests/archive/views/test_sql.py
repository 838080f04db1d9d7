"""SQL over views: the columns read, refused queries, and what is out of reach."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.views.sql import Bounds, QueryError, ask, columns_needed
from tests.archive.views.conftest import JOBS

ENDLESS = "select count(*) from range(100000000) a, range(100000) b where a.range % 7 = b.range"


def rows(lake: Lake, sql: str, **bounds: float) -> list[dict]:
    answer = ask(lake, sql, Bounds(**bounds))
    return [row for table in answer.tables for row in table.to_pylist()]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select count(*) as n from results", [{"n": 5}]),
        ("select count(*) as n from results where status = 'solved'", [{"n": 4}]),
        ("select count(*) as n from (select * from results) natural join solutions", [{"n": 3}]),
        ("select sum(count) as n from results", [{"n": 30}]),
        ("with results as (select 1 as n) from results", [{"n": 1}]),
        ("from editions e join revisions r using (date, level) where r.revision > e.revision", []),
        ("from (select row_number() over (partition by job_id) as n from results) where n > 1", []),
        ("select count(*) as n from drafts, editions; -- and a remark", [{"n": 2}]),
        ("pivot results on status using count(*) group by game",
         [{"game": "pips", "over_budget": 1, "solved": 4}]),
        ("select 1 as n, 2 as n", [{"n": 1, "n_1": 2}]),
        ("select 2.5 as n", [{"n": 2.5}]),
    ],
)  # fmt: skip
def test_views_answer_sql(lake, sql, expected):
    assert rows(lake, sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select count from results where date_part('year', now()) > 1", {"results": ["count"]}),
        ("select count(*) from results", {"results": ["job_id"]}),
        ("with x as (select * from results) select a.count from x a, x b where a.nodes > b.nodes",
         {"results": ["count", "nodes"]}),
        ("select max(c.count) from counts c join editions e using (date) group by e.editor",
         {"counts": ["count", "date"], "editions": ["date", "editor"]}),
        ("select 1", {}),
        ("describe results", {}),
        ("explain select * from results", {}),
        ("select job_id from results where job_id in (select job_id from solutions)",
         {"results": ["job_id"], "solutions": ["job_id"]}),
    ],
)  # fmt: skip
def test_columns_that_a_query_takes_are_read_and_no_others(sql, expected):
    found = columns_needed(sql)
    assert {name: sorted(columns) for name, columns in found.items()} == expected


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("select * form counts", r'SQL, line 1, column 15: syntax error at or near "counts"'),
        ("select cout from counts",
         r'line 1, column 8: referenced column "cout" not found .* expected one of "count"'),
        ("select date,\n  level, coun\nfrom counts", r"line 2, column 10: .*\"coun\""),
        ("select " + "1 + " * 80 + "cout from counts", r"line 1, column 328: .*\"cout\""),
        ("select * from count", r"column 15: there is no view count; expected one of counts, ed"),
        ("", "there is no SQL; expected a SELECT"),
        (" ; ", "there is no SQL"),
        ("select 1; select 2", "there are 2 statements; expected one SELECT"),
        ("select 'a'::int", "could not convert string 'a' to INT32"),
        ("select $1", "values were not provided"),
        ("select error('stop')", "stop"),
        ("""select error('{"a": 1}')""", '"a": 1'),
        ("drop table counts", "^this is DROP; expected one SELECT, which reads$"),
        ("copy counts to 'x.csv'", "this is COPY"),
        ("set memory_limit = '9GB'", "this is SET"),
        ("install httpfs", "expected one SELECT"),
        ("attach 'x.db'", "this is ATTACH"),
        ("call pragma_version()", "expected one SELECT"),
    ],
)  # fmt: skip
def test_bad_sql_gets_one_sentence_with_its_place(lake, sql, sentence):
    with pytest.raises(QueryError, match=sentence) as caught:
        rows(lake, sql)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        "'{file}'",
        "read_csv('{file}')",
        "read_text('{file}')",
        "read_parquet('{file}')",
        "read_blob('{file}')",
        "glob('{folder}/*')",
        "sniff_csv('{file}')",
        "read_csv('http://127.0.0.1:9/x.csv')",
        "read_parquet('s3://bucket/x.parquet')",
        "secret",
        "arrow_scan(1, 2, 3)",
        "pandas_scan(1)",
        "sqlite_scan('{file}', 't')",
        "getenv('HOME')",
    ],
)
def test_a_query_reaches_no_file_no_network_and_no_variable(lake, tmp_path, source):
    file = tmp_path / "secret.csv"
    file.write_text("a\n1\n")
    secret = view = table = [1]  # noqa: F841 - DuckDB reads variables by their names elsewhere
    with pytest.raises(QueryError):
        rows(lake, f"select * from {source.format(file=file, folder=tmp_path)}")


def test_nothing_is_written_next_to_the_lake(lake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(QueryError, match="more than 64 MB of memory; name fewer columns"):
        rows(lake, "select * from range(30000000) t(x) order by hash(x)", memory_bytes=64 * 2**20)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_query_has_a_time_limit(lake):
    with pytest.raises(QueryError, match=r"took more than 0\.2 s; --seconds allows more"):
        rows(lake, ENDLESS, seconds=0.2)


def test_rows_of_the_lake_count_as_memory(lake):
    with pytest.raises(QueryError, match="memory; name fewer columns"):
        rows(lake, "select * from results", memory_bytes=64)


def test_the_time_covers_fetching_and_writing_rows(lake):
    answer = ask(lake, "select * from range(100000000000)", Bounds(seconds=0.5))
    with pytest.raises(QueryError, match=r"took more than 0\.5 s"):
        deque(answer.tables, maxlen=0)


def test_no_thread_is_left_that_holds_the_database(lake, monkeypatch):
    """Given a clock that is slow to end, Then it has ended when the last row is taken."""

    class Slow(threading.Timer):
        def run(self) -> None:
            super().run()
            time.sleep(0.05)

    monkeypatch.setattr(threading, "Timer", Slow)
    assert rows(lake, "select 1 as n") == [{"n": 1}]
    assert not any(isinstance(thread, Slow) for thread in threading.enumerate())


def test_ctrl_c_ends_a_query(lake):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        rows(
            lake,
            "select count(*) from range(100000000) a, range(100000) b where a.range = -b.range",
        )


def test_a_damaged_file_of_results_is_skipped_as_everywhere(lake):
    from nightgrid.archive.skipped_files import forget, skipped_files

    lake.write_bytes("results/r7.parquet", b"no Parquet")
    assert rows(lake, "select count(*) as n from results") == [{"n": len(JOBS) - 1}]
    assert list(skipped_files()) == ["results/r7.parquet"]
    forget("results/r7.parquet")
