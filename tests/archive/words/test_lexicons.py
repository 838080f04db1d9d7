from __future__ import annotations

import mmap
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words import lexicons
from nightgrid.archive.words.lexicons import (
    default_lexicon,
    keep_lexicon,
    lake_path,
    lexicon_from_file,
    open_lexicon,
)
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.lexicon.compile import compile_lexicon, words_of
from nightgrid.solvers.lexicon.lexicon import Lexicon

WORDS = [("BOARD", 431), ("BOA", 300), ("WORD", 540), ("ÄON", 0)]
PHRASES = [("WORD", "BOARD", 400), ("BOA", "WORD", 380)]


@pytest.fixture(autouse=True)
def other_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """other_machine(name): continue in a new process on a machine with its own cache."""

    def go(name: str) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        monkeypatch.setattr(lexicons, "_opened", {})
        return tmp_path / name / "nightgrid" / "lexicons"

    go("cache")
    return go


@pytest.fixture
def cache(other_machine: Callable[[str], Path]) -> Path:
    return other_machine("cache")


@pytest.fixture
def word_list(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("board\nboa\nword\n")
    return path


@pytest.fixture
def small_default(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A default of a few words; counts how often it is read from its source."""
    reads: list[int] = []

    def read() -> list[tuple[str, int]]:
        reads.append(1)
        return WORDS

    monkeypatch.setattr(lexicons, "english_words", read)
    monkeypatch.setattr(lexicons, "english_phrases", lambda: PHRASES)
    return reads


def mapped(array: np.ndarray) -> bool:
    """Return whether an array is a view of a file."""
    base: object = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return isinstance(base, mmap.mmap)


def same(one: Lexicon, other: Lexicon) -> bool:
    return (
        one.lexicon_id == other.lexicon_id
        and one.has_frequencies == other.has_frequencies
        and all(np.array_equal(a, other.arrays()[name]) for name, a in one.arrays().items())
    )


def test_the_default_is_read_once_and_then_mapped(small_default, cache, other_machine):
    first = default_lexicon()
    assert words_of(first) == ["BOA", "BOARD", "WORD", "ÄON"]
    other_machine("cache")
    again = default_lexicon()
    assert len(small_default) == 1
    assert same(first, again)
    for array in again.arrays().values():
        assert mapped(array)
        assert type(array) is np.ndarray
        assert array.flags.aligned
        assert not array.flags.writeable


def test_the_default_of_another_release_or_other_code_is_read_again(
    small_default, monkeypatch, other_machine
):
    default_lexicon()
    other_machine("cache")
    monkeypatch.setattr("importlib.metadata.version", lambda _name: "99.0")
    default_lexicon()
    assert len(small_default) == 2
    monkeypatch.setattr(lexicons, "digest_of", lambda _code: "other code")
    other_machine("cache")
    default_lexicon()
    assert len(small_default) == 3


def test_a_word_list_is_compiled_once_for_equal_content_wherever_it_lies(
    word_list, tmp_path, monkeypatch, other_machine
):
    first = lexicon_from_file(word_list)
    other_machine("cache")
    monkeypatch.setattr(lexicons, "read_word_list", pytest.fail)
    copy = tmp_path / "copy.txt"
    shutil.copy(word_list, copy)
    assert same(first, lexicon_from_file(str(copy)))
    assert first.find("BOARD") == 1


def test_a_word_list_that_changes_is_another_lexicon(word_list):
    first = lexicon_from_file(word_list)
    word_list.write_text("board\nboa\nword\nlist\n")
    assert lexicon_from_file(word_list).lexicon_id != first.lexicon_id
    word_list.write_text("WORD\nboa\nboard\n")
    assert lexicon_from_file(word_list) is first


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.write_bytes(b"x" * 11), "more than 10 bytes"),
        (lambda path: path.write_bytes(b"a b 3"), "line 1: 'a b 3' may be a phrase"),
    ],
)
def test_an_invalid_word_list_is_refused_by_name(tmp_path, monkeypatch, make, message):
    monkeypatch.setattr(lexicons, "WORD_LIST_MAX_BYTES", 10)
    path = tmp_path / "odd.txt"
    make(path)
    with pytest.raises(PermanentError) as caught:
        lexicon_from_file(path)
    assert str(caught.value).startswith(f"word list {path}")
    assert message in str(caught.value)


def test_a_lexicon_travels_by_id_through_the_lake(word_list, lake, other_machine):
    here = lexicon_from_file(word_list)
    keep_lexicon(lake, here)
    assert lake.read_bytes(f"lexicons/{here.lexicon_id}.txt") == b"BOA\t0\nBOARD\t0\nWORD\t0\n"
    other_machine("elsewhere")
    there = open_lexicon(lake, here.lexicon_id)
    assert same(here, there)
    assert mapped(there.letters)
    other_machine("elsewhere")
    lake.delete(lake_path(here.lexicon_id))
    assert same(here, open_lexicon(lake, here.lexicon_id))


def test_warnings_about_a_list_are_repeated(word_list, other_machine):
    word_list.write_text("board\nTe pidly\n")
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="1 line is not one word of letters"):
            lexicon_from_file(word_list)
        other_machine("cache")


@pytest.mark.slow
def test_a_missing_lexicon_is_refused(small_default, lake):
    with pytest.raises(PermanentError, match=r"neither in the cache.*nor in the lake.*default"):
        open_lexicon(lake, "0" * 32)


@pytest.mark.parametrize("text", [b"BOA\t0\nBOARD\t1\n", b"", b"BOA"])
def test_a_damaged_text_in_the_lake_is_refused(word_list, lake, other_machine, text):
    here = lexicon_from_file(word_list)
    lake.write_bytes(lake_path(here.lexicon_id), text)
    other_machine("elsewhere")
    with pytest.raises(PermanentError, match="is damaged: its text has the id"):
        open_lexicon(lake, here.lexicon_id)


def cut(folder: Path) -> None:
    path = folder / "node_word.npy"
    path.write_bytes(path.read_bytes()[:-4])


@pytest.mark.parametrize("damage", [cut, shutil.rmtree])
def test_a_damaged_copy_is_rebuilt_and_never_used(small_default, cache, other_machine, damage):
    sound = compile_lexicon(WORDS, PHRASES)
    default_lexicon()
    (folder,) = cache.glob(f"{sound.lexicon_id}*")
    other_machine("cache")
    damage(folder)
    assert lexicons._cached(sound.lexicon_id) is None
    assert same(sound, default_lexicon())
    other_machine("cache")
    assert same(sound, default_lexicon())
    assert len(small_default) == 2
    assert sorted(path.name for path in cache.iterdir()) == sorted([folder.name, "sources"])


def test_a_machine_without_room_for_a_cache_works_without(
    small_default, tmp_path, monkeypatch, lake
):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setattr(lexicons, "cache_base", lambda: blocked)
    lexicon = default_lexicon()
    assert same(lexicon, compile_lexicon(WORDS, PHRASES))
    assert not mapped(lexicon.letters)
    assert not lexicon.letters.flags.writeable
    assert open_lexicon(lake, lexicon.lexicon_id) is lexicon


def test_a_write_that_fails_half_way_leaves_nothing_behind(cache, monkeypatch):
    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    lexicon = compile_lexicon(WORDS)
    monkeypatch.setattr(np, "save", full)
    assert same(lexicons.keep(lexicon), lexicon)
    assert list(cache.iterdir()) == []


def test_writers_at_the_same_time_leave_one_sound_copy(cache):
    lexicon = compile_lexicon((f"{a}{b}{c}", 100) for a in "ABCDE" for b in "ABCDE" for c in "XYZ")
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lexicons.keep, [lexicon] * 24))
    assert all(same(lexicon, one) for one in kept)
    assert mapped(kept[-1].letters)
    assert len(list(cache.iterdir())) == 1


@pytest.mark.slow
def test_the_english_default_opens_and_survives_the_lake(lake, other_machine):
    here = default_lexicon()
    assert here.find("PUNCTUATION") >= 0
    keep_lexicon(lake, here)
    other_machine("elsewhere")
    there = open_lexicon(lake, here.lexicon_id)
    assert same(here, there)


def test_a_lake_that_fails_is_not_taken_for_a_lexicon_that_is_missing(monkeypatch, lake: Lake):
    def fail(_path: str) -> bool:
        raise TransientError("the lake failed")

    monkeypatch.setattr(lake, "exists", fail)
    with pytest.raises(TransientError):
        open_lexicon(lake, "0" * 32)
