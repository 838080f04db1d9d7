"""A GGUF file says what was written, and another file is told from one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.games.strands.language.gguf import GgufFile
from tests.archive.games.strands.language.tiny_language_model import (
    SAYS,
    write_gguf,
    write_language_model,
)


def test_what_was_written_is_read(tmp_path: Path):
    tensors = write_language_model(tmp_path / "tiny.gguf")
    file = GgufFile(tmp_path / "tiny.gguf")
    for name, value in SAYS.items():
        said = file.says[name]
        assert said == (pytest.approx(value) if isinstance(value, float) else value)
    for name, expected in tensors.items():
        assert np.array_equal(file.tensor(name), expected), name


def test_another_file_is_no_gguf_file(tmp_path: Path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGML" + bytes(100))
    with pytest.raises(ValueError, match=r"model\.gguf is no GGUF file of version 3"):
        GgufFile(path)


def test_weights_stored_in_another_way_are_named(tmp_path: Path):
    path = tmp_path / "model.gguf"
    write_gguf(path, {}, {"output.weight": ((32,), 14, bytes(210))})
    with pytest.raises(ValueError, match=r"output\.weight is stored in a way that is not read"):
        GgufFile(path).tensor("output.weight")
