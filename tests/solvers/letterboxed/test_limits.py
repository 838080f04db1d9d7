"""Letter Boxed at the limits: odd boards and spent budgets."""

from __future__ import annotations

import time

import pytest

from nightgrid.solvers import game_contract
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.letterboxed import game as module
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules

ENDED = (Status.SOLVED, Status.UNSOLVABLE)
COUNT, ALL, FIRST = Ask(kind="count"), Ask(kind="all"), Ask(kind="first")
GENERAL = Puzzle(sides=("ABCA", "BCDD", "DEAF"), dictionary=("ABC", "CDE", "ECD", "DAB", "BDF"))


def game_of(text: str) -> LetterBoxedGame:
    return LetterBoxedGame(Rules.parse(f"min_letters=1 {text}"), None)


@pytest.mark.parametrize("chains", ["fewest-words", "fewest-letters", "3"])
@pytest.mark.parametrize(
    ("sides", "words", "count"),
    [
        (("A",), ("A",), 1),
        (("A",), ("AA", "AAA"), 0),
        (("AB",), ("AB", "BA", "A"), 0),
        (("A", "A"), ("AA",), 1),
        (("A", "B"), (), 0),
        (("A", "B"), ("C", "CAB"), 0),
        (tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), ("ABCDEFGHIJKLMNOPQRSTUVWXYZ",), 1),
        (("𐎀", "é", "中"), ("𐎀É中", "中É"), 1),
        (("A" * 40, "B" * 40), ("AB" * 40,), 1),
        (("A" * 41, "B" * 40), ("AB" * 40,), 0),
    ],
)
def test_odd_boards_are_solved(
    sides: tuple[str, ...], words: tuple[str, ...], count: int, chains: str
):
    game = game_of(f"chains={chains}")
    outcome = game.solve(Puzzle(sides=sides, dictionary=words), COUNT)
    assert (outcome.count, outcome.status is Status.SOLVED) == (count, count > 0)
    listed = game.solve(Puzzle(sides=sides, dictionary=words), ALL)
    assert (listed.count, listed.status) == (outcome.count, outcome.status)


def test_kernels_that_few_boards_need_are_compiled_before_the_clock_of_a_board_starts(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(game_contract, "_rare_is_warm", set())
    compiled = []

    def compile_slowly(game: LetterBoxedGame) -> None:
        compiled.append(game.name)
        time.sleep(0.3)

    monkeypatch.setattr(LetterBoxedGame, "warm_rare", compile_slowly)
    budget = Budget(seconds=0.25)
    distinct = Puzzle(sides=("AB", "CD"), dictionary=("ACBD",))
    for board, calls in ((distinct, 0), (GENERAL, 1), (GENERAL, 1)):
        for ask in (COUNT, FIRST):
            assert game_of("chains=3").solve(board, ask, None, budget).status in ENDED
        assert len(compiled) == calls


def test_sixty_four_sides_are_walked_round():
    letters = "".join(chr(0x4E00 + i) for i in range(64))
    words = tuple(letters[i : i + 3] for i in range(0, 64, 2))
    outcome = game_of("chains=fewest-words").solve(
        Puzzle(sides=tuple(letters), dictionary=words), COUNT
    )
    assert (outcome.count, outcome.value) == (1, 32)


@pytest.mark.parametrize("chains", ["fewest-words", "fewest-letters", "9"])
@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(nodes=3), "the budget of nodes ran out"),
        (Budget(table_bytes=1000), "the budget of table bytes ran out"),
        (Budget(seconds=1e-9), "the budget of seconds ran out"),
    ],
)
@pytest.mark.parametrize("ask", ["count", "all", "best(2)", "first"])
def test_a_budget_that_runs_out_says_so(chains: str, budget: Budget, reason: str, ask: str):
    outcome = game_of(f"chains={chains}").solve(GENERAL, Ask.parse(ask), None, budget)
    assert outcome.status is Status.OVER_BUDGET
    assert outcome.count is None
    assert outcome.reason == reason


def test_the_best_chains_are_kept_within_the_budget_of_table_bytes(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "CHAIN_BYTES", 2**30)
    board = Puzzle(sides=("AB", "CD"), dictionary=("AC", "CB", "BD", "DA"))
    game, best = game_of("chains=9"), Ask(kind="best", limit=2)
    outcome = game.solve(board, best, None, Budget(table_bytes=2**30))
    assert outcome.status is Status.OVER_BUDGET
    assert outcome.reason == "the budget of table bytes ran out"
    roomy = Budget(table_bytes=2**32)
    assert len(game.solve(board, best, None, roomy).solutions) == 2


@pytest.mark.parametrize("sides", [("ABC", "DEF"), ("ABC", "ADE", "AF")], ids=["distinct", "any"])
def test_counts_are_exact_as_long_as_they_can_be_held(sides: tuple[str, ...]):
    # AD DA can be repeated; F is collected at any time.
    words = ("AD", "DA", "DB", "BD", "AE", "EA", "EC", "CE", "AF", "FA")
    board = Puzzle(sides=sides, dictionary=words)
    counts = [game_of(f"chains={n}").solve(board, COUNT).count for n in (40, 60, 90)]
    assert counts == sorted(counts)
    assert counts[-1] is not None
    assert counts[-1] > 2**64
    outcome = game_of("chains=400").solve(board, COUNT)
    assert outcome.status is Status.OVER_BUDGET
    assert outcome.reason == "the count is 10^38 or more"


def test_an_unsolvable_board_is_proven_for_any_number_of_words():
    board = Puzzle(sides=("AB", "CD"), dictionary=("ACA", "AC", "CA"))
    outcome = game_of("chains=1000000").solve(board, COUNT)
    assert (outcome.status, outcome.count) == (Status.UNSOLVABLE, 0)


def test_a_word_with_many_ways_of_playing_is_counted_once():
    # The word of article 000, Theorem 11, has several ways round the board.
    board = Puzzle(sides=("AX", "AY", "AZ"), dictionary=("AXAYAZ", "ZAYAX"))
    outcome = game_of("chains=2").solve(board, ALL)
    assert [chain.words for chain in outcome.solutions] == [("AXAYAZ",)]


def test_no_board_needs_more_words_than_the_bound():
    words = tuple(f"A{c}" for c in "BCDEF") + tuple(f"{c}A" for c in "BCDEF")
    board = Puzzle(sides=("A", "BCDEF"), dictionary=words)
    outcome = game_of("chains=fewest-words").solve(board, COUNT)
    assert outcome.value == 8


def test_a_board_without_words_and_a_game_without_a_lexicon_are_refused():
    with pytest.raises(PermanentError, match="a word list is needed"):
        game_of("").solve(Puzzle(sides=("AB", "CD")), COUNT)
    with pytest.raises(PermanentError, match="not streamed"):
        game_of("").stream(GENERAL, COUNT)
    with pytest.raises(PermanentError, match="is not a part"):
        game_of("").solve(GENERAL, COUNT, {"from": 99, "to": 100})
    with pytest.raises(PermanentError, match="can be counted"):
        game_of("").solve_batch(game_of("").to_arrays([GENERAL]), FIRST, Budget())
    with pytest.raises(PermanentError, match="not available"):
        game_of("").from_arrays(game_of("").to_arrays([GENERAL]), 0)


@pytest.mark.parametrize("odd", ["1", "-", ".", " ", "\u2460", "\x00", "😀"])
def test_sides_and_words_only_have_letters(odd: str):
    with pytest.raises(InvalidPuzzleError, match=r"^sides\[1\]: .*; expected a letter$"):
        Puzzle(sides=("AB", f"C{odd}"))
    with pytest.raises(InvalidPuzzleError, match=r"^dictionary\[0\]: .*; expected letters$"):
        Puzzle(sides=("AB", "CD"), dictionary=(f"A{odd}",))
