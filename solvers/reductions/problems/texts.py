"""Instances of 3D matching, subset sum and Flow Free as text."""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.problems.flow_free import EMPTY, FlowFree, Flows
from nightgrid.solvers.reductions.problems.subset_sum import SubsetSum
from nightgrid.solvers.reductions.problems.three_d_matching import ThreeDMatching, Triple

DIGITS_MAX = 18


def read_three_d_matching(text: str) -> ThreeDMatching:
    """Read "p 3dm SIZE TRIPLES" and then a triple of numbers from 1 to SIZE a line.

    Lines that begin with "c" are passed over. Raises PermanentError that names the line.
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
    """Write an instance as `read_three_d_matching` reads it."""
    lines = [f"p 3dm {instance.size} {len(instance.triples)}"]
    lines += [" ".join(str(element + 1) for element in triple) for triple in instance.triples]
    return "\n".join(lines) + "\n"


def read_subset_sum(text: str) -> SubsetSum:
    """Read "p subset-sum COUNT TARGET" and then that many numbers, on as many lines as one likes.

    Lines that begin with "c" are passed over. Raises PermanentError that names the line.
    """
    count, target, rows = _read(text, "subset-sum", "COUNT TARGET")
    numbers = tuple(number for _, row in rows for number in row)
    if len(numbers) != count:
        raise PermanentError(f"there are {len(numbers)} numbers; 'p subset-sum' says {count}")
    return SubsetSum(numbers=numbers, target=target)


def write_subset_sum(instance: SubsetSum) -> str:
    """Write an instance as `read_subset_sum` reads it."""
    head = f"p subset-sum {len(instance.numbers)} {instance.target}"
    return f"{head}\n{' '.join(map(str, instance.numbers))}\n"


def read_flow_free(text: str) -> FlowFree:
    """Read a grid: a line a row, "." for an empty cell, a terminal's colour as any other character.

    Raises PermanentError for what is no grid.
    """
    return FlowFree(rows=tuple(line.strip() for line in text.splitlines() if line.strip()))


def write_flow_free(instance: FlowFree) -> str:
    """Write a grid as `read_flow_free` reads it."""
    return "\n".join(instance.rows) + "\n"


def filled(instance: FlowFree, flows: Flows) -> tuple[str, ...]:
    """Write a grid with the colour of its flow on every cell."""
    grid = [list(row) for row in instance.rows]
    for path in flows:
        colour = grid[path[0][0]][path[0][1]]
        for r, c in path:
            grid[r][c] = colour
    return tuple("".join(row) for row in grid if EMPTY not in row)


def _read(text: str, kind: str, form: str) -> tuple[int, int, list[tuple[int, list[int]]]]:
    """Read a head "p KIND N N" and rows of whole numbers with the number of their line."""
    head: tuple[int, int] | None = None
    rows: list[tuple[int, list[int]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0] == "c":
            continue
        if words[0] == "p":
            if head is not None or len(words) != 4 or words[1] != kind:
                raise PermanentError(f"line {number}: expected 'p {kind} {form}', once")
            head = _whole(words[2], number), _whole(words[3], number)
        elif head is None:
            raise PermanentError(f"line {number}: expected 'p {kind} {form}' first")
        else:
            rows.append((number, [_whole(word, number) for word in words]))
    if head is None:
        raise PermanentError(f"the text has no line 'p {kind} {form}'")
    return *head, rows


def _whole(word: str, number: int) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= DIGITS_MAX):
        raise PermanentError(f"line {number} has {word[:40]!r}; expected a whole number")
    return int(word)
