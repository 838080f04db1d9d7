"""Cover a Strands board by a genetic algorithm, compiled.

Method: article 004, section 4.2: many random combinations of words that do not clash; fitness
evaluates how well a combination covers the grid while maximising the scores of its words; the best
are kept, new ones made by mixing and slightly changing them, over many rounds. The article names no
figures and no operators. Chosen here, in the method's favour where there was a choice:

- a chromosome is a set of rows of which no two clash (overlap, cross, repeat a word, second
  compound, more pieces than there may be), so none is ever invalid but for what it leaves free;
- fitness is the number of covered cells plus the mean score, scaled to 0-1;
- the start, and what mixing leaves free, is filled by random rows through random free cells;
- a child takes each row of its first parent with probability 1/2, then what fits of the second's;
- parents win a tournament, the best of each round survive, and a share of children loses rows
  before it is filled.

Random numbers come from one seed: the same seed gives the same rounds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from benchmarks.strands_backtracking import PIECES_MAX
from benchmarks.strands_rows import ONE, REQUIRED, Rows
from solvers.bits import popcount

POPULATION = 300
SURVIVORS = 30
TOURNAMENT = 3
MUTATION_PERCENT = 40
LOST_MAX = 3
"""Most rows that a mutation takes away."""
TRIES = 24
"""Random rows tried through a free cell before it is left free."""
GENERATIONS = 10_000
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolution:
    """What evolved: a cover where one was met, and how much the best chromosome covers."""

    cover: npt.NDArray[np.int64] | None
    best: npt.NDArray[np.int64]
    """The fittest chromosome, whether a cover or not."""
    best_cells: int
    generations: int
    search_s: float
    """Processor time, as the limit is."""


@njit(cache=True)  # type: ignore[untyped-decorator]
def _random(state: U64, below: int) -> int:
    """Draw 0 to below - 1 (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return int(np.int64(z >> np.uint64(1)) % below)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _add(
    row: int,
    gene: np.ndarray,
    length: int,
    cells: U64,
    blocks: U64,
    word: np.ndarray,
    spans: np.ndarray,
    compound: np.ndarray,
    entries: int,
    spangram: int,
    repeats: bool,
) -> bool:
    """Add a row to a chromosome if it clashes with none there."""
    if entries >= 0 and length >= entries:
        return False
    for i in range(length):
        other = gene[i]
        if (
            (cells[other] & cells[row]) != np.uint64(0)
            or (blocks[other] & blocks[row]) != np.uint64(0)
            or (not repeats and word[other] == word[row])
            or (compound[other] and compound[row])
            or (spangram == ONE and spans[other] and spans[row])
        ):
            return False
    gene[length] = row
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _generation(
    genes: np.ndarray,
    lengths: np.ndarray,
    fitness: np.ndarray,
    new_genes: np.ndarray,
    new_lengths: np.ndarray,
    ranked: np.ndarray,
    is_first: bool,
    state: U64,
    cells: U64,
    blocks: U64,
    word: np.ndarray,
    scaled: np.ndarray,
    spans: np.ndarray,
    compound: np.ndarray,
    board: np.uint64,
    cell_start: np.ndarray,
    cell_rows: np.ndarray,
    entries: int,
    spangram: int,
    repeats: bool,
) -> int:
    """Make the next generation and its fitness; return the index of a cover, -1 for none."""
    size = len(lengths)
    cell_count = len(cell_start) - 1
    order = np.arange(cell_count)
    cover = -1
    for child in range(size):
        length = 0
        gene = new_genes[child]
        if not is_first and child < SURVIVORS:
            parent = ranked[child]
            length = lengths[parent]
            gene[:length] = genes[parent, :length]
        else:
            if not is_first:
                parents = (0, 0)
                for which in range(2):
                    best = _random(state, size)
                    for _ in range(TOURNAMENT - 1):
                        other = _random(state, size)
                        if fitness[other] > fitness[best]:
                            best = other
                    parents = (best, parents[0]) if which == 0 else (parents[0], best)
                for i in range(lengths[parents[0]]):
                    if _random(state, 2):
                        gene[length] = genes[parents[0], i]
                        length += 1
                for i in range(lengths[parents[1]]):
                    length += _add(
                        genes[parents[1], i], gene, length, cells, blocks, word, spans, compound,
                        entries, spangram, repeats,
                    )  # fmt: skip
                if _random(state, 100) < MUTATION_PERCENT:
                    for _ in range(1 + _random(state, LOST_MAX)):
                        if length:
                            gone = _random(state, length)
                            length -= 1
                            gene[gone] = gene[length]
            covered = np.uint64(0)
            for i in range(length):
                covered |= cells[gene[i]]
            for i in range(cell_count - 1, 0, -1):
                j = _random(state, i + 1)
                order[i], order[j] = order[j], order[i]
            for cell in order:
                if (covered >> np.uint64(cell)) & np.uint64(1):
                    continue
                begin, through = cell_start[cell], cell_start[cell + 1] - cell_start[cell]
                for _ in range(min(TRIES, through)):
                    row = cell_rows[begin + _random(state, through)]
                    if (cells[row] & covered) == np.uint64(0) and _add(
                        row, gene, length, cells, blocks, word, spans, compound, entries,
                        spangram, repeats,
                    ):  # fmt: skip
                        length += 1
                        covered |= cells[row]
                        break
        new_lengths[child] = length
        lit = np.uint64(0)
        total, spanning = 0.0, 0
        for i in range(length):
            lit |= cells[gene[i]]
            total += scaled[gene[i]]
            spanning += spans[gene[i]]
        fitness_of = popcount(lit) + total / max(length, 1)
        new_genes[child, PIECES_MAX] = np.int64(fitness_of * 1e6)
        if (
            lit == board
            and (entries < 0 or length == entries)
            and not (spangram == REQUIRED and spanning == 0)
            and not (spangram == ONE and spanning != 1)
        ):
            cover = child
    for child in range(size):
        fitness[child] = new_genes[child, PIECES_MAX]
    return cover


def evolve(
    rows: Rows,
    *,
    seed: int = 1,
    population: int = POPULATION,
    generations: int = GENERATIONS,
    time_limit_s: float | None = None,
    until_cover: bool = True,
) -> Evolution:
    """Evolve until a cover is met, or for so many generations or seconds."""
    begun = time.process_time()
    cell_count = int(rows.board).bit_count()
    through = [
        np.flatnonzero(rows.cells >> np.uint64(cell) & np.uint64(1)) for cell in range(cell_count)
    ]
    cell_start = np.concatenate([[0], np.cumsum([len(t) for t in through])]).astype(np.int64)
    cell_rows = np.concatenate(through).astype(np.int64)
    low, high = int(rows.score.min(initial=0)), int(rows.score.max(initial=0))
    # Just below 1, so that a covered cell always weighs more than any score.
    scaled = (rows.score - low) / (high - low + 1)
    state = np.array([seed], np.uint64)
    genes, new_genes = (np.zeros((population, PIECES_MAX + 1), np.int64) for _ in range(2))
    lengths, new_lengths, ranked = (np.zeros(population, np.int64) for _ in range(3))
    fitness = np.zeros(population, np.float64)
    cover: npt.NDArray[np.int64] | None = None
    done = 0
    while done < generations:
        if done:
            ranked = np.argsort(-fitness, kind="stable")
        met = _generation(
            genes, lengths, fitness, new_genes, new_lengths, ranked, done == 0, state, rows.cells,
            rows.blocks, rows.word, scaled, rows.spans, rows.compound, rows.board, cell_start,
            cell_rows, rows.entries, rows.spangram, rows.repeats,
        )  # fmt: skip
        genes, new_genes, lengths, new_lengths = new_genes, genes, new_lengths, lengths
        done += 1
        if met >= 0:
            cover = genes[met, : lengths[met]].copy()
            if until_cover:
                break
        if time_limit_s is not None and time.process_time() - begun > time_limit_s:
            break
    fittest = int(np.argmax(fitness))
    best = genes[fittest, : lengths[fittest]].copy()
    return Evolution(
        cover=cover,
        best=best,
        best_cells=int(np.bitwise_or.reduce(rows.cells[best], initial=0)).bit_count(),
        generations=done,
        search_s=time.process_time() - begun,
    )
