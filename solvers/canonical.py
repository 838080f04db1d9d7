"""Canonical texts, and ids, which are their hashes."""

from __future__ import annotations

import hashlib
import json
import re

ID_HEX_DIGITS = 32
"""Length of the ids of puzzles, jobs and runs: 128 bits of a SHA-256, in hexadecimal."""
_ID = re.compile(rf"[0-9a-f]{{{ID_HEX_DIGITS}}}")


# Cached encoders: `json.dumps` creates a new one for every call with options.
_FIELDS = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_CANONICAL = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def digest(*fields: str) -> str:
    """Hash fields, unambiguously separated, into ID_HEX_DIGITS hexadecimal digits."""
    text = _FIELDS.encode(fields)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:ID_HEX_DIGITS]


def is_id(text: str) -> bool:
    """Return whether a text has the form of such an id."""
    return _ID.fullmatch(text) is not None


def is_utf8(text: str) -> bool:
    """Return whether a text can be written as UTF-8: names of files may hold other bytes."""
    return text == text.encode(errors="ignore").decode()


def canonical_json(value: object) -> str:
    """Return a value as JSON with sorted keys and no spaces."""
    return _CANONICAL.encode(value)
