"""Canonical texts, and the ids that are hashes of them."""

from __future__ import annotations

import hashlib
import json

ID_HEX_DIGITS = 32
"""Length of puzzle_id and job_id: 128 bits of a SHA-256, in hexadecimal."""


# Encoders that are kept: `json.dumps` makes a new one for every call with options.
_FIELDS = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_CANONICAL = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def digest(*fields: str) -> str:
    """Hash fields, unambiguously separated, into ID_HEX_DIGITS hexadecimal digits."""
    text = _FIELDS.encode(fields)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:ID_HEX_DIGITS]


def canonical_json(value: object) -> str:
    """Write a JSON value with sorted keys and no spaces."""
    return _CANONICAL.encode(value)
