"""Find the payload in a page or a script that sets `window.gameData`."""

from __future__ import annotations

import re

_SET = re.compile(rb"window\s*\.\s*gameData\s*=\s*(?=\{)")
# A string that never ends is one token up to the end, so that the search stays linear.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


def embedded(data: bytes) -> bytes | None:
    """Cut the first object that `window.gameData` is set to out of a page or a script.

    None where it is not set. An object without an end goes on to the end of the data.
    """
    found = _SET.search(data)
    if found is None:
        return None
    depth = 0
    for token in _TOKEN.finditer(data, found.end()):
        if token[0] in b"[{":
            depth += 1
        elif token[0] in b"]}":
            depth -= 1
            if depth == 0:
                return data[found.end() : token.end()]
    return data[found.end() :]
