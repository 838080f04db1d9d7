"""The plug of Coins: entry point of the group nightgrid.archive."""

from __future__ import annotations

import random
from typing import Any

from nightgrid.archive.games.generator_spec import Board, Generated, Make, read_number
from nightgrid.archive.games.plug import ArchivePlug
from nightgrid.solvers.game_contract import Game

from .puzzle import Puzzle, check_choice
from .rules import Rules


class CoinsArchivePlug(ArchivePlug):
    name = "coins"
    columns = "coin int32[], total int64"
    corpus_options = ("coins",)

    def claims_member(self, key: str | None, value: bytes) -> bool:
        return key == "coins"

    def is_official(self, game: Game[Any, Any], puzzle: Any, solution: Any) -> bool:
        return check_choice(puzzle, solution, Rules.parse(game.rules).most)

    def corpus_maker(self, spec: Generated) -> Make:
        coins = read_number("coins", dict(spec.options).get("coins", "8"), 1, 24)
        return lambda start, stop: (
            Board(random_puzzle(f"{spec.seed}/{i}", coins), None) for i in range(start, stop)
        )


def random_puzzle(seed: str, coins: int) -> Puzzle:
    rng = random.Random(seed)
    purse = [rng.randint(1, 9) for _ in range(coins)]
    return Puzzle(coins=tuple(purse), total=rng.randint(1, sum(purse)))


PLUG = CoinsArchivePlug()
