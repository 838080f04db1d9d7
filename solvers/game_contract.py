"""The contract of a game: what every floor asks of it, from reading a puzzle to merging parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from nightgrid.solvers.algebra import Arrays, Ask, Budget, Expected, Outcome, SolutionStream
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.reasons import Reason

if TYPE_CHECKING:
    # Help, asks and plugs need this module, and no NumPy, which takes longer than they.
    import numpy as np
    import numpy.typing as npt

P = TypeVar("P")
S = TypeVar("S")


class Game(Protocol[P, S]):
    """One game as every floor sees it. Parts are JSON values, so that they travel as they are."""

    name: str
    solver_version: str
    """Changes whenever a count, a solution or the canonical order of solutions could."""
    reasons: tuple[Reason | None, ...]
    """Index = the uint8 by which reason columns of `solve_batch` name a reason; None at 0."""
    rules: str
    """The switchable rules that it plays by, in their one-line form; "" for a game without."""
    lexicon_id: str
    """The lexicon that it is bound to; "" for none. A word game that is bound to none can do
    everything that needs no words: read, write, name and lay out puzzles."""
    parts_in_order: bool
    """Whether the parts of `split` for `all` are ranges of the canonical order, one behind the
    other: the streams of all parts, joined, are the stream of the whole."""

    def puzzle_from_json(self, value: object) -> P:
        """Validate a JSON value into a puzzle, or raise InvalidPuzzleError."""

    def puzzle_to_json(self, puzzle: P) -> dict[str, Any]:
        """Write a puzzle in its canonical form."""

    def puzzle_id(self, puzzle: P) -> str:
        """Hash the canonical form."""

    def clued(self, puzzle: P, clue: str | None) -> P:
        """Add what players are told next to the board, where answers depend on it.

        Raises PermanentError for a puzzle of which this game cannot be asked.
        """

    def subject(self, puzzle: P) -> str:
        """Name what a question is about: the puzzle by its id, and where answers depend on more
        than that, this as well.
        """

    def solution_to_json(self, solution: S) -> Any:
        """Write a solution as a JSON value."""

    def solution_text(self, solution: S) -> str:
        """Write that JSON value as the lake has it: as a text without spaces."""

    def solution_from_json(self, value: Any) -> S:
        """Read a solution as `solution_to_json` writes it."""

    def value_of(self, solutions: Sequence[S]) -> int | None:
        """Tell what the best of some solutions is worth; None where nothing is compared."""

    def split(self, puzzle: P, ask: Ask, part: Any, into: int) -> list[Any]:
        """Divide a job (part None) or a part into about `into` disjoint parts that make it up.

        Returns a list of one when nothing is left to divide.
        """

    def solve(
        self, puzzle: P, ask: Ask, part: Any = None, budget: Budget | None = None
    ) -> Outcome[S]:
        """Answer the ask for the whole puzzle (part None) or for one part of it."""

    def stream(
        self, puzzle: P, ask: Ask, part: Any = None, budget: Budget | None = None
    ) -> SolutionStream[S]:
        """Answer `first` or `all(limit)` one solution at a time.

        Raises PermanentError for another ask.
        """

    def merge(self, puzzle: P, ask: Ask, outcomes: Sequence[Outcome[S]]) -> Outcome[S]:
        """Combine the outcomes of all parts into exactly what solving whole would have given."""

    def to_arrays(self, puzzles: Sequence[P]) -> dict[str, npt.NDArray[Any]]:
        """Lay puzzles out column-wise, as the puzzles table of the lake stores them."""

    def from_arrays(self, arrays: Arrays, row: int) -> P:
        """Rebuild the puzzle of one row."""

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Answer `count` for every row; Tiles, which does not count, `first`, without the walks.

        Returns scalar columns `status` (uint8, index into STATUS_CODES), `count_hi` and
        `count_lo` (uint64), `states`, `nodes`, `kernel_ns`, `table_bytes` (int64) and `reason`
        (uint8, index into `reasons` of the game), and for a game whose outcomes have a value
        `value` (int64, -1 for none). The budget holds for each puzzle by itself.
        """

    def layered(self, puzzle: P, budget: Budget) -> LayeredCount | None:
        """Take up a board to count it by layers, or None where the game or the board has none.

        A part of a job that is counted by layers is `{"layer": L, "buckets": [i, j]}`: all
        solutions whose state in layer L falls into the buckets i to j - 1. `solve` takes such a
        part like any other, from the empty board on; further keys of it are ignored.
        """

    def cost_s(self, arrays: Arrays, ask: Ask) -> npt.NDArray[np.float64]:
        """Estimate the seconds that each row will take one core, for planning."""

    def expected(self, arrays: Arrays, ask: Ask) -> Expected:
        """Say what the job of the only row will take, by a closer look than `cost_s` takes.

        For one job on demand: a plan of a million boards cannot afford it.
        """

    def open(self) -> object:
        """Open files that answers rest on, such as models; the first process of a machine may have
        to make them, which takes minutes.
        """

    def warm(self) -> None:
        """Compile or load the kernels, so that the first solve pays for nothing."""

    def warm_rare(self) -> None:
        """Compile or load those that `warm` leaves out, because few boards need them."""
