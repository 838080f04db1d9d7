"""Read a word list: text with one word or phrase a line, with or without counts."""

from __future__ import annotations

import codecs
import io
import itertools
import math
import re
from collections.abc import Iterator

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import CERTAIN_CENTIZIPF, UNKNOWN_CENTIZIPF
from nightgrid.solvers.lexicon.spelling import normal_form, not_on_boards

WORD_LIST_MAX_BYTES = 128 * 1024 * 1024
WORDS_MAX = 4_000_000
"""Words that a list may have, equal ones included; they take some 200 bytes each."""
LINE_MAX_BYTES = 1_000
"""The longest words of any language have some 200 letters."""
COMMENT = "#"

NUMBER_BEGINS = "0123456789+-.#"
_COUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_EXPECTED = "expected how often it was counted, such as 0, 123 or 0.5"


def read_word_list(data: bytes, name: str) -> list[tuple[str, int]]:
    """Read a word list as (word, centizipf) in normal form, in the file's order.

    UTF-8, with or without a byte order mark, lines ended by LF or CRLF; blank lines and lines
    that begin with "#" are passed over. A line is one of

        word            phrase of several words
        word 123        word,123        word<TAB>123
                        phrase of several words,123      phrase of several words<TAB>123

    where 123 is how often it was counted, in any unit that the whole list shares (digits, with
    or without a decimal point; 0 says as little as no count). Counts become Zipf frequencies by
    their share of the list's total. Case plays no role, spaces, hyphens and apostrophes are left
    out, and accents stay.

    Raises PermanentError, naming the file and the line, for anything else, for a word with a
    character that is neither letter nor digit, and for a list without words.
    """
    words: list[str] = []
    counts: list[float] = []
    for number, raw in _lines(data, name):
        line = raw.strip()
        if not line or line.startswith(COMMENT):
            continue
        if len(words) == WORDS_MAX:
            raise PermanentError(f"word list {name} has more than {WORDS_MAX:,} words")
        written, count = _parse(line, f"word list {name}, line {number}")
        word = normal_form(written)
        odd = not_on_boards(word)
        if odd or not word:
            raise PermanentError(
                f"word list {name}, line {number}: {written[:80]!r} has "
                + (f"{odd!r}, which no board has; expected letters" if odd else "no letters")
            )
        words.append(word)
        counts.append(count)
    if not words:
        raise PermanentError(f"word list {name} has no words; expected one a line")
    total = math.fsum(counts)
    return [(word, _centizipf(count, total)) for word, count in zip(words, counts, strict=True)]


def _lines(data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Decode line after line: the text as a whole could take four times its bytes."""
    if len(data) > WORD_LIST_MAX_BYTES:
        raise PermanentError(f"word list {name}: more than {WORD_LIST_MAX_BYTES} bytes")
    stream = io.BytesIO(data.removeprefix(codecs.BOM_UTF8))
    for number in itertools.count(1):
        line = stream.readline(LINE_MAX_BYTES + 1)
        if not line:
            return
        if len(line) > LINE_MAX_BYTES:
            raise PermanentError(
                f"word list {name}, line {number}: longer than {LINE_MAX_BYTES:,} bytes; expected "
                "one word or phrase a line"
            )
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            raise PermanentError(
                f"word list {name}, line {number}: byte {line[error.start]:#04x} is not UTF-8"
            ) from error


def _parse(line: str, place: str) -> tuple[str, float]:
    for separator in ("\t", ","):
        written, found, count = line.partition(separator)
        if found:
            count = count.strip()
            if not _COUNT.fullmatch(count):
                raise PermanentError(f"{place}: {count[:80]!r} after the word; {_EXPECTED}")
            return written, float(count)
    tokens = line.split()
    numbers = [_COUNT.fullmatch(token) is not None for token in tokens]
    if len(tokens) == 1 or not (any(numbers) or tokens[-1][0] in NUMBER_BEGINS):
        return line, 0.0
    if len(tokens) == 2 and not numbers[0]:
        if not numbers[1]:
            raise PermanentError(f"{place}: {tokens[1][:80]!r} after the word; {_EXPECTED}")
        return tokens[0], float(tokens[1])
    raise PermanentError(
        f"{place}: {line[:80]!r} may be a phrase or have a count; expected a TAB or comma between"
        " phrase and count"
    )


def _centizipf(count: float, total: float) -> int:
    if not count:
        return UNKNOWN_CENTIZIPF
    zipf = math.log10(count / total) * 100 + CERTAIN_CENTIZIPF
    return max(UNKNOWN_CENTIZIPF + 1, round(zipf))
