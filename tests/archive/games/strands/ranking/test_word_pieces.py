"""Texts are cut as BERT's own tokenizer cuts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.archive.games.strands.ranking.minilm import WordPieces
from tests.archive.games.strands.ranking.tiny_model import PIECES


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("cat", ["cat"]),
        ("Dogs, cats", ["dog", "##s", ",", "cat", "##s"]),
        ("C\u00c1T", ["cat"]),
        ("hot\u00a0dog\n", ["hot", "dog"]),
        ("ab abb", ["a", "##b", "a", "##b", "##b"]),
        ("catx", ["[UNK]"]),
        ("cat\u4e2ddog", ["cat", "[UNK]", "dog"]),
        ("a" * 101, ["[UNK]"]),
        ("\u200bcat\x00", ["cat"]),
        ("", []),
    ],
)
def test_a_text_becomes_the_longest_pieces_from_the_left(
    text: str, pieces: list[str], tmp_path: Path
):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n")
    ids = WordPieces(path).ids(text, 64)
    assert [PIECES[number] for number in ids] == ["[CLS]", *pieces, "[SEP]"]


def test_a_long_text_is_cut_off_before_its_end_mark(tmp_path: Path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n")
    ids = WordPieces(path).ids("cat " * 100, 8)
    assert [PIECES[number] for number in ids] == ["[CLS]", *["cat"] * 6, "[SEP]"]
