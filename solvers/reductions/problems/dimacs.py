"""Formulas as DIMACS CNF, with their embedding in comments."""

from __future__ import annotations

from collections.abc import Iterator

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.problems.formula import Assignment, Clause, Formula
from nightgrid.solvers.reductions.problems.planar import PlanarFormula, embed

ORDER, SIDES = "order", "sides"
"""Comments that give an embedding: "c order 2 1 3", the variables from left to right, and
"c sides + - +", for every clause whether it lies above (+) or below (-) the line."""
ABOVE, BELOW = "+", "-"


def read_formula(text: str) -> Formula:
    """Read a formula with three positive literals a clause.

    What clauses demand (one true variable, or not all equal) is not in the text. Raises
    PermanentError that names the line, for anything that is no such formula.
    """
    variables = clause_count = -1
    clauses: list[Clause] = []
    open_clause: list[int] = []
    for number, words in _lines(text):
        if words[0] == "c":
            continue
        if words[0] == "p":
            if variables >= 0 or len(words) != 4 or words[1] != "cnf":
                raise PermanentError(f"line {number} is {_shown(words)}; expected one 'p cnf V C'")
            variables, clause_count = (_natural(word, number) for word in words[2:])
            continue
        if variables < 0:
            raise PermanentError(f"line {number} is {_shown(words)}; expected 'p cnf V C' first")
        if words[0] == "%":
            break
        for word in words:
            literal = _natural(word, number)
            if literal:
                open_clause.append(literal - 1)
                continue
            if len(open_clause) != 3:
                raise PermanentError(
                    f"line {number} ends a clause of {len(open_clause)} literals; expected 3"
                )
            clauses.append((open_clause[0], open_clause[1], open_clause[2]))
            open_clause = []
    if variables < 0:
        raise PermanentError("the text has no line 'p cnf V C'; expected a formula in DIMACS CNF")
    if open_clause:
        raise PermanentError("the last clause does not end with 0")
    if len(clauses) != clause_count:
        raise PermanentError(f"there are {len(clauses)} clauses; 'p cnf' says {clause_count}")
    return Formula(variables=variables, clauses=tuple(clauses))


def read_planar(text: str) -> PlanarFormula:
    """Read a formula with the embedding in its comments; without one, look for one.

    Raises PermanentError as `read_formula` and `embed` do, and for an embedding that is none.
    """
    formula = read_formula(text)
    order: tuple[int, ...] | None = None
    above: tuple[bool, ...] | None = None
    for number, words in _lines(text):
        if words[:2] == ["c", ORDER]:
            order = tuple(_natural(word, number) - 1 for word in words[2:])
        elif words[:2] == ["c", SIDES]:
            if not set(words[2:]) <= {ABOVE, BELOW}:
                raise PermanentError(f"line {number}: expected {ABOVE} or {BELOW} for every clause")
            above = tuple(word == ABOVE for word in words[2:])
    if order is None and above is None:
        return embed(formula)
    if order is None or above is None:
        raise PermanentError("an embedding needs both 'c order ...' and 'c sides ...'")
    return PlanarFormula(formula=formula, order=order, above=above)


def write_formula(formula: Formula) -> str:
    """Write a formula as `read_formula` reads it."""
    lines = [f"p cnf {formula.variables} {len(formula.clauses)}"]
    lines += [" ".join(str(v + 1) for v in clause) + " 0" for clause in formula.clauses]
    return "\n".join(lines) + "\n"


def write_planar(instance: PlanarFormula) -> str:
    """Write a formula with its embedding as `read_planar` reads it."""
    order = " ".join(str(v + 1) for v in instance.order)
    sides = " ".join(ABOVE if above else BELOW for above in instance.above)
    return f"c {ORDER} {order}\nc {SIDES} {sides}\n{write_formula(instance.formula)}"


def literals_of(assignment: Assignment) -> list[int]:
    """Write an assignment as literals: the number of a variable, negative where it is false."""
    return [v if value else -v for v, value in enumerate(assignment, 1)]


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words:
            yield number, words


def _natural(word: str, number: int) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= 9):
        reason = "a positive literal" if word.startswith("-") else "a whole number"
        raise PermanentError(f"line {number} has {word[:40]!r}; expected {reason}")
    return int(word)


def _shown(words: list[str]) -> str:
    return repr(" ".join(words)[:40])
