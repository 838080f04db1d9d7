"""Instances as text: formulas as DIMACS CNF, 3D matching, subset sum and Flow Free."""

from __future__ import annotations

from collections.abc import Iterator

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.problems.choices import SubsetSum, ThreeDMatching, Triple
from nightgrid.solvers.reductions.problems.flow_free import EMPTY, FlowFree, Flows
from nightgrid.solvers.reductions.problems.formula import Assignment, Clause, Formula
from nightgrid.solvers.reductions.problems.planar import PlanarFormula

DIGITS_MAX = 18
ORDER, SIDES = "order", "sides"
"""Comments that give an embedding: "c order 2 1 3", the variables from left to right, and "c sides
+ - +", for every clause whether it is above (+) or below (-) the line."""
ABOVE, BELOW = "+", "-"


def read_formula(text: str) -> Formula:
    """Read a formula with three positive literals a clause: "p cnf V C", then clauses up to 0.

    The embedding of a planar one is in comments. The condition of clauses (one true variable, or
    not all equal) is not in the text. Raises PermanentError that names the line.
    """
    variables, count, rows = _read(text, "cnf", "V C")
    clauses: list[Clause] = []
    literals: list[int] = []
    for line, row in rows:
        for literal in row:
            if literal:
                literals.append(literal - 1)
                continue
            if len(literals) != 3:
                raise PermanentError(
                    f"line {line} ends a clause of {len(literals)} literals; expected 3"
                )
            clauses.append((literals[0], literals[1], literals[2]))
            literals = []
    if literals:
        raise PermanentError("the last clause does not end with 0")
    if len(clauses) != count:
        raise PermanentError(f"there are {len(clauses)} clauses; 'p cnf' says {count}")
    return Formula(variables=variables, clauses=tuple(clauses))


def read_planar(text: str) -> PlanarFormula:
    """Parse a formula with the embedding in its comments.

    Raises PermanentError as `read_formula` does, and for a missing or invalid embedding.
    """
    formula = read_formula(text)
    order: tuple[int, ...] | None = None
    above: tuple[bool, ...] | None = None
    for number, words in _word_lines(text):
        if words[:2] == ["c", ORDER]:
            order = tuple(_whole(word, number) - 1 for word in words[2:])
        elif words[:2] == ["c", SIDES]:
            if not set(words[2:]) <= {ABOVE, BELOW}:
                raise PermanentError(f"line {number}: expected {ABOVE} or {BELOW} for every clause")
            above = tuple(word == ABOVE for word in words[2:])
    if order is None or above is None:
        raise PermanentError(
            "an embedding is missing: expected both 'c order ...' and 'c sides ...'"
        )
    return PlanarFormula(formula=formula, order=order, above=above)


def write_formula(formula: Formula) -> str:
    """Format a formula as `read_formula` parses it."""
    lines = [f"p cnf {formula.variables} {len(formula.clauses)}"]
    lines += [" ".join(str(v + 1) for v in clause) + " 0" for clause in formula.clauses]
    return "\n".join(lines) + "\n"


def write_planar(instance: PlanarFormula) -> str:
    """Format a formula with its embedding as `read_planar` parses it."""
    order = " ".join(str(v + 1) for v in instance.order)
    sides = " ".join(ABOVE if above else BELOW for above in instance.above)
    return f"c {ORDER} {order}\nc {SIDES} {sides}\n{write_formula(instance.formula)}"


def literals_of(assignment: Assignment) -> list[int]:
    """Return an assignment as literals: the number of a variable, negative if it is false."""
    return [v if value else -v for v, value in enumerate(assignment, 1)]


def read_three_d_matching(text: str) -> ThreeDMatching:
    """Read "p 3dm SIZE TRIPLES" and then a triple of numbers from 1 to SIZE a line.

    Ignores lines that begin with "c". Raises PermanentError that names the line.
    """
    size, count, numbers = _read(text, "3dm", "SIZE TRIPLES")
    triples: list[Triple] = []
    for line, row in numbers:
        if len(row) != 3:
            raise PermanentError(f"line {line} has {len(row)} numbers; expected a triple")
        triples.append((row[0] - 1, row[1] - 1, row[2] - 1))
    if len(triples) != count:
        raise PermanentError(f"there are {len(triples)} triples; 'p 3dm' says {count}")
    return ThreeDMatching(size=size, triples=tuple(triples))


def write_three_d_matching(instance: ThreeDMatching) -> str:
    """Format an instance as `read_three_d_matching` parses it."""
    lines = [f"p 3dm {instance.size} {len(instance.triples)}"]
    lines += [" ".join(str(element + 1) for element in triple) for triple in instance.triples]
    return "\n".join(lines) + "\n"


def read_subset_sum(text: str) -> SubsetSum:
    """Read "p subset-sum COUNT TARGET" and then that many numbers, on any number of lines.

    Ignores lines that begin with "c". Raises PermanentError that names the line.
    """
    count, target, rows = _read(text, "subset-sum", "COUNT TARGET")
    numbers = tuple(number for _, row in rows for number in row)
    if len(numbers) != count:
        raise PermanentError(f"there are {len(numbers)} numbers; 'p subset-sum' says {count}")
    return SubsetSum(numbers=numbers, target=target)


def write_subset_sum(instance: SubsetSum) -> str:
    """Format an instance as `read_subset_sum` parses it."""
    head = f"p subset-sum {len(instance.numbers)} {instance.target}"
    return f"{head}\n{' '.join(map(str, instance.numbers))}\n"


def read_flow_free(text: str) -> FlowFree:
    """Read a grid: a line a row, "." for an empty cell, a terminal's colour as any other character.

    Raises PermanentError for an invalid grid.
    """
    return FlowFree(rows=tuple(line.strip() for line in text.splitlines() if line.strip()))


def write_flow_free(instance: FlowFree) -> str:
    """Format a grid as `read_flow_free` parses it."""
    return "\n".join(instance.rows) + "\n"


def filled(instance: FlowFree, flows: Flows) -> tuple[str, ...]:
    """Format a grid with the colour of its flow on every cell."""
    grid = [list(row) for row in instance.rows]
    for path in flows:
        colour = grid[path[0][0]][path[0][1]]
        for r, c in path:
            grid[r][c] = colour
    return tuple("".join(row) for row in grid if EMPTY not in row)


def _read(text: str, kind: str, form: str) -> tuple[int, int, list[tuple[int, list[int]]]]:
    """Parse a head "p KIND N N" and rows of whole numbers with their line numbers."""
    expected = "a positive literal" if kind == "cnf" else "a whole number"
    head: tuple[int, int] | None = None
    rows: list[tuple[int, list[int]]] = []
    for number, words in _word_lines(text):
        if words[0] == "c":
            continue
        if words[0] == "p":
            if head is not None or len(words) != 4 or words[1] != kind:
                raise PermanentError(
                    f"line {number} is {_shown(words)}; expected one 'p {kind} {form}'"
                )
            head = _whole(words[2], number), _whole(words[3], number)
        elif head is None:
            raise PermanentError(
                f"line {number} is {_shown(words)}; expected 'p {kind} {form}' first"
            )
        elif words[0] == "%":
            break
        else:
            rows.append((number, [_whole(word, number, expected) for word in words]))
    if head is None:
        raise PermanentError(f"the text has no line 'p {kind} {form}'")
    return *head, rows


def _word_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words:
            yield number, words


def _whole(word: str, number: int, expected: str = "a whole number") -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= DIGITS_MAX):
        raise PermanentError(f"line {number} has {word[:40]!r}; expected {expected}")
    return int(word)


def _shown(words: list[str]) -> str:
    return repr(" ".join(words)[:40])
