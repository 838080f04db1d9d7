"""Our own programs do without pandas, which pyarrow would import."""

from __future__ import annotations

import subprocess
import sys

import pytest

CONVERT = """
import sys
import pyarrow as pa
from nightgrid.archive.lake.without_pandas import keep_pandas_out
{first}
keep_pandas_out()
keep_pandas_out()
assert pa.array([1, 2]).to_pylist() == [1, 2]
assert pa.table({{"a": [1.5]}}).num_rows == 1
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize(("first", "there"), [("", "False"), ("import pandas", "True")])
def test_arrow_converts_without_pandas_unless_the_process_has_it(first: str, there: str) -> None:
    program = CONVERT.format(first=first)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == there
