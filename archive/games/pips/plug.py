"""The archive's plug of Pips."""

from __future__ import annotations

from typing import Any

from nightgrid.archive.games.plug import ArchivePlug
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game

_MEMBERS = ("easy", "medium", "hard", "regions", "dominoes")


class PipsArchivePlug(ArchivePlug):
    """See nightgrid.archive.games.plug.ArchivePlug.

    As the first game it is the default if no game recognises an input.
    """

    name = "pips"
    form = "dominoes and regions"
    columns = (
        "cell_row int32[], cell_col int32[], cell_region int32[], region_type uint8[], "
        "region_target int64[], domino_a int32[], domino_b int32[]"
    )
    """cell_* list the board's cells (sorted by row, then column), region_* its regions (codes of
    nightgrid.solvers.pips.puzzle.REGION_TYPES; target 0 if there is none), domino_* its dominoes;
    `size` is the number of dominoes."""
    endpoint = "/svc/pips/v1"
    corpus_options = ("mix", "dominoes", "rows", "unconstrained", "max_pip", "duplicates")

    def claims_member(self, key: str | None, value: bytes) -> bool:  # noqa: ARG002 - the key says it
        """Recognise a payload by its levels, and a board by its regions and dominoes."""
        return key in _MEMBERS

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool | None:  # noqa: ARG002 - Pips has no rules to switch
        """Check that the dominoes satisfy the regions."""
        from nightgrid.solvers.pips.check import check_solution

        try:
            check_solution(puzzle, solution)
        except PermanentError:
            return False
        return True


PLUG = PipsArchivePlug()
