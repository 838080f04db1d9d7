"""A bit of a footer changes: no reader ends the process, or raises what is not ours."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archive.flipped_footers import KINDS
from tests.drawn import drawn

BITS = 240
"""Bits that are drawn of a footer; each costs 5 to 30 ms."""
MANY_BITS = 1_500
HARMLESS = {
    "of-elsewhere": {"the same", "faults", "refused"},
}
"""How reading may end: what a file of elsewhere says is checked as boards are."""


def strike(kind: str, folder: Path, bits: int) -> None:
    """Flip bits in a process of its own, whose end is seen."""
    seed = random.randrange(2**32)
    words = [kind, str(folder), str(bits), str(seed)]
    child = subprocess.run(
        [sys.executable, "-m", "tests.archive.flipped_footers", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    told = child.stdout.splitlines()
    assert child.returncode == 0, f"{' '.join(words)}: {told[-1:]}: {child.stderr[-2000:]}"
    ended = set(json.loads(told[-1]))
    assert "the same" in ended, told[-1]
    assert ended <= HARMLESS[kind], f"{' '.join(words)}: {told[-1]}"


@pytest.mark.drawn
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_of_a_footer_ends_no_process(tmp_path: Path, kind: str) -> None:
    strike(kind, tmp_path, drawn(BITS))


@pytest.mark.long(
    short="tests/archive/test_flipped_footers.py::test_a_flipped_bit_of_a_footer_ends_no_process"
)
@pytest.mark.parametrize("kind", KINDS)
def test_many_flipped_bits_of_a_footer(tmp_path: Path, kind: str) -> None:
    strike(kind, tmp_path, MANY_BITS)
