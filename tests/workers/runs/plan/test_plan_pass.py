"""How a stream of puzzles is cut into batches."""

import pyarrow as pa
import pytest

from nightgrid.workers.runs.plan import plan_pass
from nightgrid.workers.runs.plan.plan_pass import batches


def cut(sizes, first_rows):
    """Cut a stream of tables of such sizes; return the sizes of batches, all rows being there."""
    rows = pa.table({"n": range(sum(sizes))})
    tables, start = [], 0
    for size in sizes:
        tables.append(rows.slice(start, size))
        start += size
    found = list(batches(iter(tables), first_rows))
    assert pa.concat_tables([rows.slice(0, 0), *found]).equals(rows)
    return [len(batch) for batch in found]


@pytest.mark.parametrize(
    ("sizes", "first_rows", "expected"),
    [
        ([], 4, []),
        ([0, 0], 4, []),
        ([3], 4, [3]),
        ([4], 4, [4]),
        ([100], 4, [4, 8, 16, 16, 16, 16, 16, 8]),
        ([7, 0, 1, 30, 2, 0], 4, [4, 8, 16, 12]),
        ([16, 16, 16], 4, [4, 8, 16, 16, 4]),
        ([5, 40], 16, [16, 16, 13]),
        ([5, 40], 1000, [16, 16, 13]),
        ([1] * 20, 1, [1, 2, 4, 8, 5]),
    ],
)
def test_each_batch_has_twice_the_rows_of_the_one_before_up_to_a_bound(
    monkeypatch, sizes, first_rows, expected
):
    monkeypatch.setattr(plan_pass, "BATCH_ROWS", 16)
    assert cut(sizes, first_rows) == expected
