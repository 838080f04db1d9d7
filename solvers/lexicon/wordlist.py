"""Parse a word list: text with one word a line, with or without counts."""

from __future__ import annotations

import codecs
import io
import itertools
import math
import re
import warnings
from collections.abc import Iterator

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import CERTAIN_CENTIZIPF, UNKNOWN_CENTIZIPF
from nightgrid.solvers.lexicon.spelling import normal_form, not_on_boards

WORD_LIST_MAX_BYTES = 128 * 1024 * 1024
WORDS_MAX = 4_000_000
"""Most words of a list, including repeated ones; they take some 200 bytes each."""
LINE_MAX_BYTES = 1_000
"""The longest words of any language have some 200 letters."""
COMMENT = "#"


class WordListError(PermanentError):
    """An invalid line of a word list.

    `line` counts from 1, and `fault` says what is wrong with it and what was expected.
    """

    def __init__(self, name: str, line: int, fault: str) -> None:
        super().__init__(f"word list {name}, line {line}: {fault}")
        self.name = name
        self.line = line
        self.fault = fault

    def __reduce__(self) -> tuple[type[WordListError], tuple[str, int, str]]:
        """Support pickling, which the message alone does not."""
        return type(self), (self.name, self.line, self.fault)


NUMBER_BEGINS = "0123456789+-.#"
_COUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_PARTED = re.compile(r"[\s\u00ad\u2010\u2011-]")
"""Separates the words of a phrase."""
SKIPPED_NAMED = 5
_EXPECTED = "expected how often it was counted, such as 0, 123 or 0.5"


def read_word_list(data: bytes, name: str) -> list[tuple[str, int]]:
    """Parse a word list into (word, centizipf) in normal form, in the file's order.

    UTF-8, with or without a byte order mark, lines ended by LF or CRLF; blank lines and lines that
    begin with "#" are skipped. A line is one of

        word        word 123        word,123        word<TAB>123

    where 123 is how often it was counted, in any unit that the whole list shares (digits, with or
    without a decimal point; 0 says as little as no count). Counts become Zipf frequencies by their
    share of the list's total. Case does not matter, apostrophes are removed, and accents stay.
    Lines that are several words, or have digits, are skipped, with one warning that counts and
    names them: "Te pidly" is not the word TEPIDLY.

    Raises WordListError for anything else and for a word with a character that is neither letter
    nor digit, and PermanentError, naming the file, for a list without words or too long a one.
    """
    skipped: list[str] = []
    words: list[str] = []
    counts: list[float] = []
    for number, raw in _lines(data, name):
        line = raw.strip()
        if not line or line.startswith(COMMENT):
            continue
        if len(words) == WORDS_MAX:
            raise PermanentError(f"word list {name} has more than {WORDS_MAX:,} words")
        try:
            written, count = _parse(line)
        except ValueError as error:
            raise WordListError(name, number, str(error)) from error
        word = normal_form(written)
        odd = not_on_boards(word)
        if odd or not word:
            has = f"{odd!r}, which no board has; expected letters" if odd else "no letters"
            raise WordListError(name, number, f"{written[:80]!r} has {has}")
        if _PARTED.search(written.strip()) or not word.isalpha():
            skipped.append(written.strip())
            continue
        words.append(word)
        counts.append(count)
    if skipped:
        some = ", ".join(map(repr, skipped[:SKIPPED_NAMED]))
        lines = "1 line is" if len(skipped) == 1 else f"{len(skipped):,} lines are"
        more = ", ..." if skipped[SKIPPED_NAMED:] else ""
        skips = f"word list {name}: {lines} not one word of letters and skipped: {some}{more}"
        warnings.warn(skips, RuntimeWarning, stacklevel=2)
    if not words:
        raise PermanentError(f"word list {name} has no words; expected one a line")
    total = math.fsum(counts)
    return [(word, _centizipf(count, total)) for word, count in zip(words, counts, strict=True)]


def _lines(data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Decode line by line: the text as a whole could take four times its bytes."""
    if len(data) > WORD_LIST_MAX_BYTES:
        raise PermanentError(f"word list {name}: more than {WORD_LIST_MAX_BYTES} bytes")
    stream = io.BytesIO(data.removeprefix(codecs.BOM_UTF8))
    for number in itertools.count(1):
        line = stream.readline(LINE_MAX_BYTES + 1)
        if not line:
            return
        if len(line) > LINE_MAX_BYTES:
            long = f"longer than {LINE_MAX_BYTES:,} bytes; expected one word or phrase a line"
            raise WordListError(name, number, long)
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            fault = f"byte {line[error.start]:#04x} is not UTF-8"
            raise WordListError(name, number, fault) from error


def _parse(line: str) -> tuple[str, float]:
    """Parse a word and its count. Raises ValueError that says what is wrong."""
    for separator in ("\t", ","):
        written, found, count = line.partition(separator)
        if found:
            count = count.strip()
            if not _COUNT.fullmatch(count):
                raise ValueError(f"{count[:80]!r} after the word; {_EXPECTED}")
            return written, float(count)
    tokens = line.split()
    numbers = [_COUNT.fullmatch(token) is not None for token in tokens]
    if len(tokens) == 1 or not (any(numbers) or tokens[-1][0] in NUMBER_BEGINS):
        return line, 0.0
    if len(tokens) == 2 and not numbers[0]:
        if not numbers[1]:
            raise ValueError(f"{tokens[1][:80]!r} after the word; {_EXPECTED}")
        return tokens[0], float(tokens[1])
    raise ValueError(
        f"{line[:80]!r} may be a phrase or have a count; expected a TAB or comma between phrase "
        "and count"
    )


def _centizipf(count: float, total: float) -> int:
    if not count:
        return UNKNOWN_CENTIZIPF
    zipf = math.log10(count / total) * 100 + CERTAIN_CENTIZIPF
    return max(UNKNOWN_CENTIZIPF + 1, round(zipf))
