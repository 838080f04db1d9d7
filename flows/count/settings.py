"""The settings of a count, the game bound to them, and the name of its run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nightgrid.archive.corpus.corpus import Corpus
from nightgrid.archive.games.generator_spec import is_generator_spec
from nightgrid.archive.words.binding import bind_game, lexicon_for
from nightgrid.flows.runs import RunSettings
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.registry import check_ask, check_rules, game_plug
from nightgrid.workers.runs.status import is_finished, next_name
from nightgrid.workers.runs.unanswered_jobs import Retry, statuses_of

if TYPE_CHECKING:
    # Settings are read before there is anything to plan.
    from nightgrid.workers.runs.plan.plan_pass import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSettings(RunSettings):
    """Settings of one count. Raises PermanentError for an invalid value."""

    corpus: str
    """A folder of payloads, a Parquet file or folder, `lake`, or a generator spec."""
    game: str | None = None
    """None: the ask that fits the corpus."""
    ask: Ask = field(default_factory=lambda: Ask(kind="count"))
    rules: str = ""
    """Rules that differ from the game's own, as name=value separated by spaces."""
    lexicon: str | None = None
    """A word list for a word game; None: the default lexicon, or a board's own words."""
    resume: bool = False
    """Continue a cancelled run."""
    retry: Retry | None = None
    """Which puzzles are solved again that an earlier run gave up within this budget."""

    def __post_init__(self) -> None:
        RunSettings.__post_init__(self)
        if not self.corpus:
            raise PermanentError(
                "the corpus is empty; expected a folder, a Parquet file, lake or a generator spec"
            )
        game = self.corpus.partition(":")[0] if is_generator_spec(self.corpus) else self.game
        if game is not None:
            self.check_question(game)

    def check_question(self, game: str) -> None:
        """Raise PermanentError for an ask, rules or words that the game does not have.

        Cheap enough to call before a corpus is generated: it loads no solver, and reads only the
        lines of a word list.
        """
        check_ask(self.ask, game)
        check_rules(self.rules, game)
        if self.lexicon is None:
            return
        if not game_plug(game).words:
            raise PermanentError(f"{game} is not played with words; expected no lexicon")
        from nightgrid.archive.words.lexicons import check_word_list

        check_word_list(self.lexicon)

    def way_on(self, run_id: str, *, cancelled: bool) -> str:  # noqa: ARG002
        """Return the command that continues."""
        return f"the same command {'with --resume ' if cancelled else ''}continues"


def asked_of(settings: CountSettings, corpus: Corpus) -> Asking:
    """Return the question of a count about a corpus, with the game bound to its rules and words."""
    from nightgrid.workers.runs.plan.plan_pass import Asking

    words: Lexicon | str | None = settings.lexicon
    if words is None and game_plug(corpus.game).own_words and is_generator_spec(corpus.name):
        # Generated boards bring no words of their own.
        words = lexicon_for(corpus.game, own_words=False)
    game = bind_game(corpus.game, settings.rules, words, corpus.lake, settings.ask)
    workers = settings.workers
    return Asking(
        settings.lake,
        game,
        settings.ask,
        workers.budget,
        workers.batch_processes,
        settings.retry,
        solution_bytes=workers.budget_solution_bytes,
    )


def run_name(asking: Asking, corpus: Corpus) -> str:
    """Name the run that answers this question about this corpus.

    The same command finds it again, however far it is, without planning a million jobs again. Once
    it has ended, jobs to retry and jobs without an answer get a run of their own.
    """
    lake = asking.lake
    begun = asking.question.corpus_run_id(asking.budget, corpus.corpus_id)
    name = next_name(lake, begun, more=False)
    lacks = is_finished(lake, name) and _lacks_answers(asking, corpus)
    return next_name(lake, begun, more=True) if lacks else name


def _lacks_answers(asking: Asking, corpus: Corpus) -> bool:
    """Return whether puzzles need solving: to retry, or since answers were dropped or lost."""
    from nightgrid.workers.runs.job_keys import name_jobs, read_answers

    # Jobs given up and too long listings count as answered: a run ends with them.
    again = statuses_of(asking.retry)
    known = read_answers(asking.lake, asking.question, asking.budget, again=again)
    named = (name_jobs(asking.question, ids) for ids in corpus.puzzle_ids().chunks)
    return any(not known.have(keys).all() for keys in named)
