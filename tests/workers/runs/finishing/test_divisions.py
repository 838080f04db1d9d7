"""What parts of runs are, in words, and which workers worked them."""

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.question import Question
from nightgrid.workers.runs.attempts import Note, read_workers, write_note
from nightgrid.workers.runs.finishing.divisions import words_of
from nightgrid.workers.runs.run_files import ChunkRef

RUN = "0" * 32


def question(game="pips", rules=""):
    return Question(
        game=game, rules=rules, lexicon_id="", ask=Ask(kind="count"), solver_version="x-1"
    )


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("", "the whole"),
        ('{"layer": 3, "buckets": [0, 64], "until": 5}', "dominoes 4-5, groups 1-64 of states"),
        ('{"layer": 3, "buckets": [7, 8], "until": 4}', "domino 4, group 8 of states"),
        (
            '{"layer": 0, "buckets": [0, 1024], "until": null, "carry_rows": 200000}',
            "from domino 1 on, groups 1-1,024 of states",
        ),
        ("[[[0, 1], [0, 2]]]", "first tile (0,1)-(0,2)"),
        (
            "[[[0, 1], [0, 2]], [[1, 1], [2, 1], 6, 4]]",
            "first tiles (0,1)-(0,2), (1,1)-(2,1) with 6|4",
        ),
        ('{"pieces": [], "ranks": [65280, 130560]}', "solutions 65,281-130,560"),
        ('{"zones": [3]}', "zones [3]"),
    ],
)
def test_a_part_of_pips_is_said_in_words(part, words):
    assert words_of(part, question()) == words


@pytest.mark.parametrize(
    ("game", "rules", "part", "words"),
    [
        (
            "strands",
            "spangram=required",
            '{"under":[],"from":0,"to":128}',
            "spangrams 1-128 with their zones",
        ),
        ("strands", "spangram=off", '{"under":[],"from":0,"to":9}', "first words 1-9"),
        ("strands", "", '{"under":[57,2],"from":4,"to":5}', "word 5 after spangram 58, word 3"),
        ("letterboxed", "", '{"under":[],"from":9,"to":20}', "first words 10-20"),
        ("letterboxed", "", '{"under":[6],"from":0,"to":2}', "words 1-2 after word 7"),
        ("tiles", "", '{"from":0,"to":6}', "walks that begin on tiles 1-6"),
    ],
)
def test_a_part_of_another_game_is_said_in_its_own_words(game, rules, part, words):
    assert words_of(part, question(game, rules)) == words


def test_long_parts_are_cut():
    assert len(words_of(str([[[0, i], [0, i + 1]] for i in range(100)]), question())) == 100


def test_the_worker_of_a_chunk_is_the_one_that_began_its_last_attempt(tmp_path):
    lake = Lake.open(str(tmp_path))
    for chunk, attempt, worker in ((0, 9, "a"), (0, 10, "b"), (1, 1, "c"), (2, 1, "d")):
        ref = ChunkRef(run_id=RUN, segment=0, chunk=chunk, attempt=attempt)
        write_note(lake, ref, Note(worker=worker, started_at=0.0))
    known = read_workers(lake, RUN, {(0, 0), (0, 1), (0, 7)})
    assert known == {(0, 0): "b", (0, 1): "c"}


def test_the_workers_of_very_many_chunks_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("nightgrid.workers.runs.attempts.NOTES_READ", 1)
    lake = Lake.open(str(tmp_path))
    write_note(lake, ChunkRef(run_id=RUN, segment=0, chunk=0), Note(worker="a", started_at=0.0))
    assert read_workers(lake, RUN, {(0, 0), (0, 1)}) == {}
    assert read_workers(lake, RUN, {(0, 0)}) == {(0, 0): "a"}, "so many are read"
