"""The comparison engines of Strands find a cover where there is one, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks import strands_backtracking, strands_dlx, strands_genetic
from benchmarks.strands_rows import Rows, rows_of
from solvers.lexicon.compile import compile_lexicon
from solvers.strands.pieces import find_pieces
from tests.oracles.strands_brute_force import Covering
from tests.solvers.strands_boards import Instance, all_rules, instances, quick_covers

PATIENCE = 200_000
"""Nodes after which the backtracker, which may take for ever, is given up."""
GENERATIONS = 12


def engines_rows(instance: Instance) -> tuple[Rows, set[Covering]]:
    covers = quick_covers(instance)
    assume(covers is not None)
    assert covers is not None
    lexicon = compile_lexicon(instance.vocabulary.words.items())
    found = find_pieces(instance.puzzle, instance.rules, lexicon)
    return rows_of(instance.puzzle, instance.rules, found), covers


@settings(max_examples=60, deadline=None)
@given(instance=instances(most_cells=10))
def test_backtracking_and_dancing_links_find_a_cover_iff_there_is_one(instance: Instance) -> None:
    rows, covers = engines_rows(instance)
    assume(len(rows) <= 40)
    for engine in (strands_backtracking, strands_dlx):
        found = engine.search(rows, time_limit_s=0.0, nodes=PATIENCE)
        if not found.complete:
            continue
        assert (found.cover is not None) == bool(covers)
        if found.cover is not None:
            assert rows.obeys(found.cover)
            assert {cells for _, cells in rows.identity(found.cover)} in [
                {cells for _, cells in cover} for cover in covers
            ]
            assert found.best_cells == instance.puzzle.cell_count


@settings(max_examples=60, deadline=None)
@given(instance=instances(rules=all_rules.map(lambda r: replace(r, crossing=True)), most_cells=10))
def test_dancing_links_count_as_brute_force_where_crossing_is_allowed(instance: Instance) -> None:
    rows, covers = engines_rows(instance)
    counted = strands_dlx.search(rows, most=2**62, time_limit_s=0.5, nodes=PATIENCE)
    assume(counted.complete)
    assert counted.count == len(covers)
    # Stopped and taken up again after every few nodes, it counts the same.
    assert strands_dlx.search(rows, most=2**62, nodes=7).count == len(covers)


@settings(max_examples=30, deadline=None)
@given(instance=instances(rules=all_rules.map(lambda r: replace(r, crossing=True)), most_cells=9))
def test_backtracking_counts_as_brute_force_where_crossing_is_allowed(instance: Instance) -> None:
    rows, covers = engines_rows(instance)
    assume(len(rows) <= 30)
    counted = strands_backtracking.search(rows, most=2**62, time_limit_s=0.0, nodes=PATIENCE)
    assume(counted.complete)
    assert counted.count == len(covers)
    assert strands_backtracking.search(rows, most=2**62, nodes=997).count == len(covers)


@settings(max_examples=30, deadline=None)
@given(instance=instances(most_cells=12), seed=st.integers(0, 1000))
def test_the_genetic_algorithm_returns_covers_only(instance: Instance, seed: int) -> None:
    rows, covers = engines_rows(instance)
    grown = strands_genetic.evolve(rows, seed=seed, population=40, generations=GENERATIONS)
    assert grown.best_cells <= instance.puzzle.cell_count
    if grown.cover is not None:
        assert covers
        assert rows.obeys(grown.cover)
    again = strands_genetic.evolve(rows, seed=seed, population=40, generations=GENERATIONS)
    np.testing.assert_array_equal(grown.best, again.best)
    assert again.generations == grown.generations
