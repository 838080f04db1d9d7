"""`nightgrid solve`: solve puzzles from files, the command line or a lake, in this process."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.answers import (
    cost_text,
    each_puzzle,
    head_json,
    outcome_json,
    say_best,
    say_failure,
    say_head,
    say_list_end,
    say_solutions,
    say_unsolved,
)
from nightgrid.service.games import service_plug, view
from nightgrid.service.options.game_rules import Lexicon, RuleTexts, read_rules
from nightgrid.service.options.pictures import SvgFile, check_picture, one_picture, write_file
from nightgrid.service.options.shared_options import (
    All,
    Best,
    Count,
    Files,
    First,
    GameName,
    Json,
    LakeOption,
    Levels,
    Limit,
    Seconds,
    Sides,
    chosen_ask,
    default_budget,
)
from nightgrid.service.terminal.console import (
    emit,
    emit_end,
    emit_start,
    emit_text,
    json_line,
    say,
    say_drawing,
    sentence_of,
)
from nightgrid.service.terminal.exit_codes import Exit, exit_for
from nightgrid.service.terminal.progress import solving_shown
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.registry import check_ask, game_plug
from nightgrid.solvers.registry import game as game_named
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import ReadItem

SOLUTIONS_SHOWN = 20
"""Most solutions that are listed."""
CHAINS_MAX = 100_000
"""Most chains from which a set without shared words is chosen."""


def solve(
    *,
    files: Files = None,
    sides: Sides = None,
    level: Levels = None,
    game: GameName = None,
    first: First = False,
    count: Count = False,
    all_: All = False,
    limit: Limit = None,
    best: Best = None,
    rank: Annotated[
        bool,
        typer.Option(
            "--rank",
            help="Rank the covers of a Strands board by how likely each was meant.",
        ),
    ] = False,
    disjoint: Annotated[
        bool,
        typer.Option(
            "--disjoint",
            help="Find a largest set of Letter Boxed chains that share no word.",
        ),
    ] = False,
    rule: RuleTexts = None,
    lexicon: Lexicon = None,
    seconds: Seconds = None,
    svg: SvgFile = None,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Solve puzzles in this process.

    Without --first, --count, --all or --best it finds one solution, for Strands and Letter Boxed
    the best one. Exit code: 0 solved, 2 unsolvable, 3 bad input, 4 over budget; over several
    puzzles the largest of these.
    """
    from nightgrid.service.options.reading import LETTER_BOXED, read_sources

    chosen = chosen_ask(
        first=first,
        count=count,
        all_=all_,
        limit=limit,
        best=best,
        rank=rank,
        other="--disjoint" if disjoint else None,
    )
    budget = default_budget()
    budget = budget if seconds is None else replace(budget, seconds=seconds)
    rules = read_rules(rule, lexicon)
    check_picture(svg)

    def work(found: ReadItem, published: Published) -> Exit:
        ask = chosen or game_plug(found.game).quick_ask
        check_ask(ask, found.game)
        if disjoint and found.game != LETTER_BOXED:
            title, this = game_plug(LETTER_BOXED).title, game_plug(found.game).title
            raise PermanentError(f"--disjoint is for {title}; this is {this}")
        puzzle, bound = rules.bind(found.game, published.puzzle, ask, published.clue)
        solve = _Solve(
            game=bound,
            found=found,
            puzzle=puzzle,
            ask=ask,
            budget=budget,
            json=json,
            sampled=svg is not None,
            official=published.solution,
        )
        if not json:
            say_head(found, published, puzzle)
        with solving_shown(bound):
            status, solutions = solve.disjoint() if disjoint else solve.answer()
        if svg is not None:
            solution = next(iter(solutions), None)
            write_file(svg, view(found.game).svg(puzzle, solution, published.clue), "--svg")
        return exit_for(status)

    sources = one_picture(read_sources(files or [], level or (), game, sides, lake), svg)
    return each_puzzle(sources, work, json=json)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Solve:
    """One puzzle and its ask. Each way of solving returns the status and solutions."""

    game: Game[Any, Any]
    found: ReadItem
    puzzle: Any
    ask: Ask
    budget: Budget
    json: bool
    sampled: bool
    """Whether to find a solution even if they are only counted."""
    official: Any = None
    """The payload's own solution, used only for hints."""

    def answer(self) -> tuple[Status, tuple[Any, ...]]:
        """Solve it, and print the answer as it arrives."""
        if self.ask.kind == "all":
            return self._list_all()
        if self.ask.kind == "meant":
            return self._rank()
        outcome = self.game.solve(self.puzzle, self.ask, None, self.budget)
        solved = outcome.status is Status.SOLVED
        sample: tuple[Any, ...] = ()
        if solved and self.ask.kind == "count" and (self.sampled or not self.json):
            one = game_plug(self.found.game).sample_ask
            sample = self.game.solve(self.puzzle, one, None, self.budget).solutions
        if self.json:
            self._emit(outcome)
        elif solved:
            say_solutions(self.game, self.puzzle, self.ask, outcome, sample)
        else:
            say_unsolved(self.found.game, self.puzzle)
            say_failure(outcome, self._hint(outcome) or self._advice(outcome))
        return outcome.status, (*outcome.solutions, *sample)

    def _emit(self, outcome: Outcome[Any]) -> None:
        answer = outcome_json(self.game, self.ask, outcome)
        emit(head_json(self.found, self.puzzle) | answer | self._hint_json(outcome))

    def _rank(self) -> tuple[Status, tuple[Any, ...]]:
        """Rank the solutions by how likely each was meant; draw the first."""
        from nightgrid.service.games.strands.ranking import ranked_lines

        outcome = self.game.solve(self.puzzle, self.ask, None, self.budget)
        read = game_named(self.found.game).solution_from_json
        solutions = tuple(map(read, outcome.solutions))
        if self.json:
            self._emit(outcome)
            return outcome.status, solutions
        if not solutions:
            say_unsolved(self.found.game, self.puzzle)
        if outcome.reason:
            say_failure(outcome)
            return outcome.status, solutions
        ranker, took_ns = self.game.solver_version, outcome.statistics.kernel_ns
        for line in ranked_lines(outcome.solutions, ranker, took_ns):
            say(line)
        if not solutions:
            say(sentence_of(self._hint(outcome) or self._advice(outcome)))
        for first in solutions[:1]:
            say()
            say_drawing(view(self.found.game).solution(self.puzzle, first))
        return outcome.status, solutions

    def disjoint(self) -> tuple[Status, tuple[Any, ...]]:
        """Find a largest set of chains without shared words."""
        outcome, of = self._disjoint_set()
        if self.json:
            answer = outcome_json(self.game, Ask(kind="all"), outcome)
            emit(head_json(self.found, self.puzzle) | answer | {"of": of})
            return outcome.status, outcome.solutions
        if not outcome.solutions:
            say_unsolved(self.found.game, self.puzzle)
            say_failure(outcome)
            return outcome.status, ()
        chains = plural(len(outcome.solutions), "chain")
        say(f"{chains} of {of:,} share no word; no set is larger. Found in {cost_text(outcome)}:")
        shown = view(self.found.game)
        say_best(shown, self.puzzle, outcome.solutions[:SOLUTIONS_SHOWN])
        if len(outcome.solutions) > SOLUTIONS_SHOWN:
            say(f"and {len(outcome.solutions) - SOLUTIONS_SHOWN:,} more; --json has all of them")
        return outcome.status, outcome.solutions

    def _disjoint_set(self) -> tuple[Outcome[Any], int | None]:
        """Return the set, and the number of chains that it is chosen from, None if unknown."""
        from nightgrid.solvers.letterboxed.search.disjoint import disjoint_chains

        every = self.game.solve(self.puzzle, Ask(kind="all", limit=CHAINS_MAX), None, self.budget)
        if every.status is not Status.SOLVED:
            return every, None
        if every.truncated:
            reason = (
                f"--disjoint chooses among at most {CHAINS_MAX:,} chains, and there are more; "
                "--rule words=N and --rule min_length=N leave fewer"
            )
            code = ReasonCode.CAPACITY
            return Outcome(status=Status.OVER_BUDGET, reason_code=code, reason=reason), None
        begun_ns = time.perf_counter_ns()
        best = disjoint_chains(every.solutions)
        took = Statistics(kernel_ns=time.perf_counter_ns() - begun_ns)
        spent = every.statistics + took
        outcome = replace(every, count=len(best), solutions=best, statistics=spent)
        return outcome, len(every.solutions)

    def _hint(self, outcome: Outcome[Any]) -> str:
        """If there is no solution, return which official words the word list lacks."""
        if outcome.status is not Status.UNSOLVABLE or self.official is None:
            return ""
        from nightgrid.archive.games import archive_plug, missing_words_hint

        hint = missing_words_hint(self.game, self.official)
        return hint and f"{hint}; {archive_plug(self.game.name).other_words}"

    def _advice(self, outcome: Outcome[Any]) -> str:
        """Return which rules keep a board from having a solution."""
        if outcome.status is not Status.UNSOLVABLE:
            return ""
        return service_plug(self.found.game).advice(self.game)

    def _hint_json(self, outcome: Outcome[Any]) -> dict[str, str]:
        hint = self._hint(outcome)
        return {"hint": hint} if hint else {}

    def _list_all(self) -> tuple[Status, tuple[Any, ...]]:
        """List solutions as they are found; there may be millions, so only the first is kept."""
        plug = service_plug(self.found.game)
        shown = plug.view()
        count = 0
        kept: tuple[Any, ...] = ()
        if self.json:
            emit_start(head_json(self.found, self.puzzle), "solutions")
        stream = self.game.stream(self.puzzle, self.ask, None, self.budget)
        for count, solution in enumerate(stream, start=1):
            kept = kept or (solution,)
            if self.json:
                emit_text(json_line(self.game.solution_to_json(solution)), first=count == 1)
            elif count > 1 and plug.lists_lines:
                say(f"{count:,}: {shown.line(solution)}")
            else:
                say(f"{count:,}:")
                say_drawing(shown.solution(self.puzzle, solution))
                say()
        outcome: Outcome[Any] = Outcome(
            status=stream.status,
            count=None if stream.status == "over_budget" else count,
            truncated=stream.truncated,
            statistics=stream.statistics,
            reason_code=stream.reason_code,
            reason=stream.reason,
            value=self.game.value_of(kept),
        )
        if self.json:
            tail = outcome_json(self.game, self.ask, outcome)
            del tail["solutions"]
            emit_end(tail | self._hint_json(outcome))
        else:
            if not count:
                say_unsolved(self.found.game, self.puzzle)
            say_list_end(count, outcome, self._hint(outcome) or self._advice(outcome))
        return outcome.status, kept
