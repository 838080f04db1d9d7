"""Positive not-all-equal 3-SAT to Letter Boxed (article 000, Theorem 11): one word, one chain.

Side 1 has the letter S once, sides 2 and 3 have the same letters, side 4 some more. A variable has
letters x and y, d of each on sides 2 and 3 (d: the number of its clauses), and d of a letter z on
side 4. A clause has a letter c, two on each of sides 2 and 3. The word is

    S, then  (x y)^d S     for every variable: all x on one of sides 2 and 3, all y on the other;
       then  (y z)^d       for every variable: the y of the side where none was taken;
       then  x c S x c S x c S c S     for every clause, x its three variables in turn.

No x occurs more often than on the board, so a clause takes each x on the side opposite to that of
(x y)^d, and the c after it on that of (x y)^d. Three c taken on one side leave two on the other, of
which the fourth takes one: so they cannot all be on one side.
"""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.reductions.problems import formula as formulas
from nightgrid.solvers.reductions.problems.formula import Assignment, Formula
from nightgrid.solvers.reductions.problems.letters import distinct_letters
from nightgrid.solvers.reductions.reduced import Reduced

HOME, TRUE, FALSE, AWAY = range(4)
"""The sides: that of S, the two that variables choose from, and that of z."""
RULES = "chains=1 min_letters=1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters:
    """The letters by meaning."""

    home: str
    pad: str
    x: dict[int, str]
    y: dict[int, str]
    z: dict[int, str]
    c: tuple[str, ...]


def letters_of(formula: Formula) -> Letters:
    """Assign letters to the clauses and their variables."""
    used = [v for v, count in enumerate(formula.occurrences) if count]
    n, m = len(used), len(formula.clauses)
    letters = iter(distinct_letters(2 + 3 * n + m))
    home, pad = next(letters), next(letters)
    x, y, z = ({v: next(letters) for v in used} for _ in range(3))
    return Letters(home=home, pad=pad, x=x, y=y, z=z, c=tuple(letters))


def reduce(formula: Formula, *, padded: bool = True) -> Reduced[Formula, Puzzle]:
    """Write a formula as a board whose only word is a chain if and only if the formula holds.

    `padded` makes all sides equally long by a letter on sides 1 and 4 that the word ends with.
    Raises PermanentError for a formula without clauses.
    """
    if not formula.clauses:
        raise PermanentError("a formula has no clauses; expected at least one")
    letters = letters_of(formula)
    times = formula.occurrences
    both = "".join(letters.x[v] * times[v] + letters.y[v] * times[v] for v in letters.x)
    both += "".join(c * 2 for c in letters.c)
    away = "".join(letters.z[v] * times[v] for v in letters.x)
    sides = [letters.home, both, both, away]
    word = _word(formula, letters)
    if padded:
        for side in (HOME, AWAY):
            sides[side] += letters.pad * (len(both) - len(sides[side]))
        word += letters.pad * (2 * (len(both) - 1))
    return Reduced(
        game="letterboxed",
        instance=formula,
        puzzle=Puzzle(sides=tuple(sides), dictionary=(word,)),
        rules=RULES,
    )


def _word(formula: Formula, letters: Letters) -> str:
    times = formula.occurrences
    s = letters.home
    parts = [s]
    parts += [(letters.x[v] + letters.y[v]) * times[v] + s for v in letters.x]
    parts += [(letters.y[v] + letters.z[v]) * times[v] for v in letters.x]
    for clause, c in zip(formula.clauses, letters.c, strict=True):
        parts += [letters.x[v] + c + s for v in clause]
        parts.append(c + s)
    return "".join(parts)


def solution_of(reduced: Reduced[Formula, Puzzle], chain: Chain) -> Assignment:
    """Find the assignment by which the word is played, and check it.

    A chain names no sides. They are found variable by variable; a clause's part of the word is
    checked as soon as its variables are decided. Raises PermanentError if there are none, and for a
    chain of another word.
    """
    if chain.words != reduced.puzzle.dictionary:
        raise PermanentError("the chain is not the board's only word")
    model = next(formulas.assignments(reduced.instance, formulas.not_all_equal), None)
    if model is None:
        raise PermanentError("the word cannot be played so that it collects every letter")
    return model
