"""Cut text into the word pieces of BERT's vocabulary: lower case, without accents.

Method: Devlin et al., "BERT", and its reference tokenizer. The library `tokenizers` does it too,
but brings a client for a model hub and a network stack, which an offline worker has no use for.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"
INSIDE = "##"
"""Stands before a piece that does not begin a word."""
WORD_LETTERS_MAX = 100
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
"""Each ideograph is a word."""


class WordPieces:
    """A vocabulary of pieces, one a line in its file."""

    def __init__(self, path: Path) -> None:
        lines = path.read_text("utf-8").splitlines()
        self._ids = {piece: number for number, piece in enumerate(lines)}

    def number(self, piece: str) -> int:
        """Number one piece, or a mark. Raises KeyError for one that the vocabulary lacks."""
        return self._ids[piece]

    def ids(self, text: str, tokens_max: int) -> list[int]:
        """Number the pieces of a text, between the marks of its begin and end."""
        ids = [self._ids[BEGIN]]
        for word in _words(text):
            ids += self._pieces(word)
        return [*ids[: tokens_max - 1], self._ids[END]]

    def _pieces(self, word: str) -> list[int]:
        """Cut a word into the longest pieces, from its start on."""
        unknown = [self._ids[UNKNOWN]]
        if len(word) > WORD_LETTERS_MAX:
            return unknown
        ids = []
        start = 0
        while start < len(word):
            for stop in range(len(word), start, -1):
                piece = (INSIDE if start else "") + word[start:stop]
                if piece in self._ids:
                    ids.append(self._ids[piece])
                    start = stop
                    break
            else:
                return unknown
        return ids


def _words(text: str) -> list[str]:
    """Divide a text at spaces and around punctuation."""
    spaced = []
    for letter in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(letter)
        if category == "Mn" or (category.startswith("C") and letter not in "\t\n\r"):
            continue
        if letter.isspace():
            spaced.append(" ")
        elif _stands_alone(letter, category):
            spaced.append(f" {letter} ")
        else:
            spaced.append(letter)
    return "".join(spaced).split()


def _stands_alone(letter: str, category: str) -> bool:
    code = ord(letter)
    if category.startswith("P") or any(first <= code <= last for first, last in _IDEOGRAPHS):
        return True
    # Marks of ASCII are punctuation here, whatever Unicode calls them: $, +, <, ^, `, |, ~.
    return letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != " "
