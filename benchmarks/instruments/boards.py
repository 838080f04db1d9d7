"""Boards that several benchmarks work: published ones, and generated ones of Pips."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.solvers.pips.generate.generator import generate, generate_many
from nightgrid.solvers.pips.generate.mix import LEVELS, LOOSE, PRESETS
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game

BOARDS_AT_ONCE = 10_000


def archive_folder() -> Path:
    """Return the folder of published payloads."""
    default = Path(__file__).resolve().parents[3] / "shared" / "puzzles"
    return Path(os.environ.get("NIGHTGRID_ARCHIVE") or default)


def published_files(name: str) -> list[Path]:
    """List the published payloads of a game by date; end the program when there are none."""
    folder = archive_folder() / name
    files = sorted(folder.glob("*.json"))
    if not files:
        sys.exit(f"no payloads in {folder}; expected NIGHTGRID_ARCHIVE to name their folder")
    return files


def published_mix(boards: int, seed: int) -> pa.Table:
    """Generate boards of the published mix (easy, medium and hard in turn) as a puzzles table."""
    mixes = [PRESETS[level] for level in LEVELS]
    parts = []
    for start in range(0, boards, BOARDS_AT_ONCE):
        drawn = generate_many(seed, min(BOARDS_AT_ONCE, boards - start), mixes, start)
        parts.append(puzzles_table(game("pips"), [puzzle for puzzle, _ in drawn]))
    return pa.concat_tables(parts)


def loose_board(dominoes: int, seed: int) -> Puzzle:
    """Generate a board of the mix LOOSE, which has four rows."""
    mix = replace(LOOSE, dominoes=((dominoes, 1.0),))
    return generate(mix, seed)[0]
