"""Every row of the table of bad inputs: one sentence, one exit code, nothing on standard output."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs.bad_inputs import FILES, rows

LEAKS = re.compile(r"Traceback|pydantic|Arrow[A-Z]|Errno|Error:|NoneType|Input should|object at 0x")
"""Words of libraries and of Python."""


def test_the_table_is_long_enough_and_has_no_row_twice() -> None:
    typed = [(*row["words"], *row["env"].items()) for row in rows()]
    assert len(typed) >= 60
    assert len(set(typed)) == len(typed)


@pytest.mark.parametrize("row", rows(), ids=lambda row: " ".join([*row["env"], *row["words"]]))
def test_a_bad_input_is_one_sentence(
    row: dict[str, Any],
    invoke: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = os.path.realpath(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name, value in row["env"].items():
        monkeypatch.setenv(name, value)
    code, out, err = invoke(*(word.replace("FOLDER", folder) for word in row["words"]))
    assert (code, out, err.replace(folder, "FOLDER")) == (row["code"], "", row["says"] + "\n")
    assert not LEAKS.search(err)
