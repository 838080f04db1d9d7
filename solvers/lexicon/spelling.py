"""The normal form of words: upper case, letters only, one character for one cell of a board."""

from __future__ import annotations

import unicodedata

NOT_SPELLED = frozenset(" \u00a0-\u2010\u2011'\u2019\u2018\u02bc`")
"""Characters of phrases and contractions that boards omit: spaces, hyphens, apostrophes. "ice
cream" is ICECREAM on a board."""

_LATIN = str.maketrans(
    {
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ł": "l",
        "ß": "ss",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "ħ": "h",
        "ŋ": "n",
        "ŧ": "t",
    }
)
"""Latin letters that Unicode does not decompose into a plain letter and a mark."""


def upper(text: str) -> str:
    """Convert letters to upper case, one for one: a letter whose capital is two stays as it is."""
    if text.isascii():
        return text.upper()
    return "".join(c.upper() if len(c.upper()) == 1 else c for c in text)


def normal_form(text: str) -> str:
    """Spell a word or phrase as on a board.

    Accents stay: Ä is a letter of its own. The result may contain non-letters; see `not_on_boards`.
    """
    if text.isascii() and text.isalpha():
        return text.upper()
    composed = unicodedata.normalize("NFC", text)
    return upper("".join(c for c in composed if c not in NOT_SPELLED))


def not_on_boards(word: str) -> str:
    """Return the first character of a normal form that no board has, or "".

    Digits are allowed, since word lists have them; boards read from files only have letters.
    """
    return next((c for c in word if not c.isalnum()), "")


def without_accents(text: str) -> str:
    """Fold lower-case Latin letters to a-z, as English boards do: café is cafe."""
    apart = unicodedata.normalize("NFD", text.translate(_LATIN))
    return "".join(c for c in apart if not unicodedata.combining(c))
