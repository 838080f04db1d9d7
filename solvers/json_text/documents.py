"""Divide a text that holds many JSON documents, each cut out as its bytes stand.

These are one document a line, a list, an object by label, or either of these as the value of a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from nightgrid.solvers.json_text.spans import Span, first_byte, spans_in
from nightgrid.solvers.json_text.strict_json import MAX_MEMBERS, shown

HEAD = 8
"""Values of a list that are looked at to tell whether they are documents."""
WRAPPERS = 2
"""Keys within one another that the documents may lie under."""
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_NO_OBJECT = re.compile(rb"^(?:[^\s{]|[ \t]+\S)", re.MULTILINE)


class Document(NamedTuple):
    """One of many documents of a text."""

    body: bytes
    place: str = ""
    """Where it is, for messages: ", line 3", "[3]", ".2026-01-05"."""
    keys: tuple[str, ...] = ()
    """Those that it lies under, from the outermost on."""


class Form(NamedTuple):
    """How documents are told from other values."""

    is_document: Callable[[bytes], bool]
    """Whether an object, or a list under a label, is one."""
    is_label: Callable[[str], bool]
    """Whether documents of an object lie under such a key."""
    has_key: Callable[[str], bool]
    """Whether an object with such a key is one document, and not many."""


def documents_in(data: bytes, form: Form, *, are_lines: bool) -> Iterator[Document]:
    """Yield the documents of a text, the whole text if it is not divided.

    Lines are documents if each begins an object in its first column. With `are_lines`, the file is
    known to have such lines, and the first one decides.
    """
    several: Iterator[Document] = _values(data, form, first_byte(data), Document(data))
    if data[:1] == b"{" and (are_lines or not _NO_OBJECT.search(data)):
        numbered = enumerate(_LINE.finditer(data), 1)
        lines = (
            Document(line[0].strip(), f", line {n}") for n, line in numbered if line[0].strip()
        )
        if len(first := [*islice(lines, 2)]) > 1:
            several = chain(first, lines)
    yield from chain([next(several, Document(data))], several)


def _values(data: bytes, form: Form, at: int, under: Document) -> Iterator[Document]:
    """Yield the documents in the list or object that begins at `at`; nothing if it has none."""
    begin, values = data[at : at + 1], spans_in(data, at)
    head = [*islice(values, HEAD)]

    def is_one(span: Span, begins: tuple[bytes, ...]) -> bool:
        return data.startswith(begins, span.start) and form.is_document(
            data[span.start : span.stop]
        )

    if begin == b"[" and any(is_one(span, (b"{",)) for span in head):
        for number, (_, start, stop) in enumerate(chain(head, values)):
            yield Document(data[start:stop], f"{under.place}[{number}]", under.keys)
    members = [*head, *islice(values, MAX_MEMBERS)] if begin == b"{" else []
    if len(members) > MAX_MEMBERS:
        return
    labelled = [span for span in members if not span.key or form.is_label(span.key)]
    is_any = any(is_one(span, (b"{", b"[")) for span in labelled if span.key)
    is_one_document = any(form.has_key(span.key or "") for span in members)
    if is_any or (len(under.keys) < WRAPPERS and not is_one_document):
        for key, start, stop in labelled if is_any else members:
            name = key or "end"
            inner = Document(data[start:stop], f"{under.place}.{shown(name)}", (*under.keys, name))
            yield from [inner] if is_any else _values(data, form, start, inner)
