"""Retention of results takes along the words that no board has any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nightgrid.archive.corpus.plans import CorpusPlan, corpus_plan_path
from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.puzzles import add_puzzles, puzzles_table
from nightgrid.archive.lake.json_files import write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
from nightgrid.archive.results.files import ASKED_FOLDER
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.archive.words.binding import bind_game
from nightgrid.archive.words.dictionaries import SINGLES, keep_dictionary, single_path
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.retention import dictionaries
from nightgrid.flows.maintenance.retention.pruned import Kept
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.question import question_of
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.jobs import submitting
from nightgrid.workers.ondemand.jobs.submitting import plan_job, submit
from nightgrid.workers.ondemand.record import Record, without_words
from nightgrid.workers.ondemand.record_files import RECORDS, create_record
from nightgrid.workers.settings import Settings
from tests.flows.maintenance.retention.lakes import age_files

BOARD = Puzzle(sides=("TAP", "ERD", "NIL", "YCO"), dictionary=("PARTLY", "YEARN", "NEED"))
OTHER = Puzzle(sides=("TAP", "ERD", "NIL", "YCO"), dictionary=("PARTY", "YEARN"))
GAME = bind_game("letterboxed")
NEEDED, LEFT = (single_path(str(each.dictionary_id)) for each in (BOARD, OTHER))
WITHOUT_WORDS = without_words(GAME.puzzle_to_json(BOARD), BOARD)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.open(str(tmp_path / "lake"))
    for board in (BOARD, OTHER):
        keep_dictionary(lake, board)
    return lake


def prune(lake: Lake, **more: Any) -> tuple[int, list[str]]:
    """Drop what is old; tell how many dictionaries went, and which are left."""
    rows = list(prune_lake(lake, {Kept.RESULTS: 30.0}, **more))
    dropped = sum(row.with_them.dictionaries for row in rows if row.with_them)
    return dropped, lake.list(SINGLES)


def in_a_question(lake: Lake) -> None:
    keep_asked(lake, [AskedPuzzle(GAME.puzzle_id(BOARD), "letterboxed", WITHOUT_WORDS)])


def in_a_job(lake: Lake) -> None:
    question = question_of(GAME, Ask(kind="first"))
    record = Record(
        job_id=question.job_id(GAME.puzzle_id(BOARD)),
        question=question,
        puzzle=WITHOUT_WORDS,
        budget=JobBudget.of(Settings()),
        submitted_at=1.0,
    )
    assert create_record(lake, record)


def in_a_run(lake: Lake) -> None:
    plan_job(lake, GAME, BOARD, Ask(kind="first"), JobBudget.of(Settings()))


def in_a_corpus(lake: Lake) -> None:
    for corpus_id, game in (("c", "letterboxed"), ("p", "pips")):
        plan = CorpusPlan(
            corpus_id=corpus_id, kind="payloads", game=game, name="folder", base="/", slices=1
        )
        write_json(lake, corpus_plan_path(corpus_id), asdict(plan))
    schema = archive_plug("letterboxed").puzzles()
    lake.write_row_groups("corpora/c/puzzles/a.parquet", [puzzles_table(GAME, [BOARD])], schema)


def in_a_night(lake: Lake) -> None:
    add_puzzles(lake, "letterboxed", puzzles_table(GAME, [BOARD]))


@pytest.mark.parametrize(
    "refer",
    [in_a_question, in_a_job, in_a_run, in_a_corpus, in_a_night],
    ids=lambda of: of.__name__,
)
def test_words_that_a_board_has_stay_and_others_go(
    lake: Lake, refer: Callable[[Lake], None]
) -> None:
    age_files(lake, SINGLES)
    refer(lake)
    assert prune(lake, dry_run=True) == (1, [LEFT, NEEDED] if LEFT < NEEDED else [NEEDED, LEFT])
    assert prune(lake) == (1, [NEEDED])
    assert prune(lake) == (0, [NEEDED])


def test_words_go_with_the_question_that_brought_them(lake: Lake) -> None:
    in_a_question(lake)
    age_files(lake, SINGLES, "asked")
    assert prune(lake, games=["letterboxed"])[0] == 0, "words are of no game"
    assert prune(lake) == (2, [])


def test_young_words_stay_and_those_that_are_asked_for_again_are_young(lake: Lake) -> None:
    assert prune(lake)[0] == 0
    age_files(lake, SINGLES)
    keep_dictionary(lake, BOARD)
    assert prune(lake) == (1, [NEEDED])
    written = lake.stamp(NEEDED)
    keep_dictionary(lake, BOARD)
    assert lake.stamp(NEEDED) == written, "once a day is enough"


def test_words_that_are_asked_for_while_references_are_read_stay(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    age_files(lake, SINGLES)
    stamp = Lake.stamp

    def asked_meanwhile(self: Lake, path: str) -> Any:
        monkeypatch.setattr(Lake, "stamp", stamp)
        for board in (BOARD, OTHER):
            keep_dictionary(lake, board)
        return stamp(self, path)

    monkeypatch.setattr(Lake, "stamp", asked_meanwhile)
    assert prune(lake)[0] == 0


@pytest.fixture
def asked_before_delete(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Lake], None]], None]:
    """Let a board be asked about after the look at the age of its words, before their deletion."""
    delete = Lake.delete

    def set_up(refer: Callable[[Lake], None]) -> None:
        def asked_meanwhile(self: Lake, path: str, **more: Any) -> None:
            if path == NEEDED:
                monkeypatch.setattr(Lake, "delete", delete)
                keep_dictionary(lake, BOARD)
                refer(lake)
            delete(self, path, **more)

        monkeypatch.setattr(Lake, "delete", asked_meanwhile)

    return set_up


@pytest.mark.parametrize(
    "refer",
    [in_a_question, in_a_job, in_a_run, in_a_corpus, in_a_night],
    ids=lambda of: of.__name__,
)
def test_words_that_are_asked_for_right_before_their_deletion_are_put_back(
    lake: Lake,
    asked_before_delete: Callable[[Callable[[Lake], None]], None],
    refer: Callable[[Lake], None],
) -> None:
    words = lake.read_bytes(NEEDED)
    age_files(lake, SINGLES)
    asked_before_delete(refer)
    assert prune(lake) == (1, [NEEDED])
    assert lake.read_bytes(NEEDED) == words


def test_a_submission_writes_words_again_that_went_before_its_question_was_kept(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, at_message = submitting.keep_asked, list[bool]()

    def dropped_before(*given: Any) -> None:
        lake.delete(NEEDED)
        keep(*given)

    monkeypatch.setattr(submitting, "keep_asked", dropped_before)
    monkeypatch.setattr(submitting, "publish", lambda *_: at_message.append(lake.exists(NEEDED)))
    submit(lake, BOARD, Ask(kind="first"), game="letterboxed", settings=Settings(lake=lake.url))
    assert at_message == [True]


def test_words_are_put_back_while_it_is_not_known_what_is_needed(
    lake: Lake, asked_before_delete: Callable[[Callable[[Lake], None]], None]
) -> None:
    """Given a record that is damaged while words are dropped, Then all of them are put back."""
    path = f"{RECORDS}/{'d' * 32}.json"
    age_files(lake, SINGLES)
    asked_before_delete(lambda lake: lake.write_bytes(path, b"damaged"))
    assert prune(lake) == (0, sorted([LEFT, NEEDED]))
    assert list(skipped_files()) == [path]
    forget(path)


def test_references_are_looked_for_again_in_shares(
    lake: Lake,
    asked_before_delete: Callable[[Callable[[Lake], None]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dictionaries, "SHARE_BYTES", 1)
    age_files(lake, SINGLES)
    asked_before_delete(in_a_job)
    assert prune(lake) == (1, [NEEDED])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("corpora/c/puzzles/a.parquet", b"damaged"),
        ("corpora/d/plan.json", b"damaged"),
        ("corpora/d/plan.json", b'{"seed": 7}'),
        ("corpora/d/plan.json", b'{"game": ["pips"]}'),
        (f"{RECORDS}/{'d' * 32}.json", b"damaged"),
    ],
)
def test_nothing_goes_while_what_may_refer_to_it_cannot_be_read(
    lake: Lake, path: str, text: bytes
) -> None:
    in_a_corpus(lake)
    age_files(lake, SINGLES)
    lake.write_bytes(path, text)
    assert prune(lake) == (0, sorted([LEFT, NEEDED]))
    assert list(skipped_files()) == [path]
    forget(path)
    lake.delete(path)
    assert prune(lake)[0] > 0


@pytest.mark.parametrize("text", ["{", "[]", "7", "null", "[" * 100_000])
def test_nothing_goes_while_the_text_of_a_puzzle_is_damaged(lake: Lake, text: str) -> None:
    age_files(lake, SINGLES)
    table = pa.table(
        {"puzzle_id": ["a" * 32], "game": ["letterboxed"], "puzzle": [text]}, schema=ASKED
    )
    path = f"{ASKED_FOLDER}/damaged.parquet"
    lake.write_table(path, table)
    assert prune(lake) == (0, sorted([LEFT, NEEDED]))
    assert list(skipped_files()) == [path]
    forget(path)
