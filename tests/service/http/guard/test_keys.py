"""Keys of the service: shown only once, stored as hashes, each with its limits."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.service.http.guard.keys import (
    LIMIT_MAX,
    add_key,
    find_key,
    read_keys,
    revoke_key,
)
from nightgrid.solvers.errors import PermanentError


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


def test_a_key_is_found_with_its_limits(lake: Lake):
    alice, bob = add_key(lake, "alice", 10, 2), add_key(lake, "bob")
    keys = read_keys(lake)
    found = find_key(keys, alice)
    assert found is not None
    assert (found.name, found.per_minute, found.jobs) == ("alice", 10, 2)
    assert find_key(keys, bob) is keys["bob"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: "ng",
        lambda text: "ng_alice_",
        lambda text: text[:-1],
        lambda text: text + "A",
        lambda text: text.replace("alice", "bob"),
        lambda text: text.replace("alice", "nobody"),
        lambda text: text.replace("ng_", "", 1),
        lambda text: text.upper(),
        lambda text: "ng__" + "0" * 43,
        lambda text: "ng_alice_\udcff\0é",
    ],
)
def test_any_other_text_opens_nothing(lake: Lake, change: Callable[[str], str]):
    text = add_key(lake, "alice")
    add_key(lake, "bob")
    assert find_key(read_keys(lake), change(text)) is None


def test_the_lake_holds_neither_key_nor_secret(lake: Lake, tmp_path: Path):
    text = add_key(lake, "alice")
    secret = text.removeprefix("ng_alice_")
    assert len(secret) == 43
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret[:8].encode() in path.read_bytes()]


def test_a_name_is_taken_once_and_free_again_when_it_is_revoked(lake: Lake):
    first = add_key(lake, "alice")
    with pytest.raises(PermanentError, match="key 'alice' exists already"):
        add_key(lake, "alice")
    revoke_key(lake, "alice")
    assert read_keys(lake) == {}
    second = add_key(lake, "alice")
    keys = read_keys(lake)
    assert find_key(keys, first) is None
    assert find_key(keys, second) is not None


@pytest.mark.parametrize("name", ["", "A", "a/b", "../a", "a b", "-a", "a-", "a" * 33, "a\n", "ä"])
def test_a_name_is_a_file_name_everywhere(lake: Lake, name: str):
    with pytest.raises(PermanentError, match="key name is"):
        add_key(lake, name)
    with pytest.raises(PermanentError, match="key name is"):
        revoke_key(lake, name)


@pytest.mark.parametrize("limit", [0, -1, LIMIT_MAX + 1])
def test_limits_have_bounds(lake: Lake, limit: int):
    with pytest.raises(PermanentError, match=f"--jobs is {limit}; expected 1 to 1,000,000"):
        add_key(lake, "alice", jobs=limit)
    assert read_keys(lake) == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda value: "no JSON",
        lambda value: json.dumps({}),
    ],
)
def test_a_damaged_key_opens_nothing_and_affects_no_other(lake: Lake, change: Callable[..., str]):
    alice, carol = add_key(lake, "alice"), add_key(lake, "carol")
    value = json.loads(lake.read_bytes("keys/alice.json"))
    lake.write_bytes("keys/alice.json", change(value).encode())
    found = read_keys(lake)
    assert "keys/alice.json" in skipped_files()
    forget("keys/alice.json")
    assert find_key(found, alice) is None
    assert find_key(found, carol) is not None
    revoke_key(lake, "alice")
    read_keys(lake)
    assert skipped_files() == {}


def test_the_command_adds_lists_and_revokes(
    invoke: Callable[..., tuple[int, str, str]], tmp_path: Path
):
    where = ("--lake", str(tmp_path / "lake"))
    code, out, err = invoke("keys", "add", "alice", "--per-minute", "5", *where)
    assert code == 0
    assert find_key(read_keys(Lake.open(where[1])), out.strip()) is not None
    assert "shown only once" in err
    code, out, _ = invoke("keys", "add", "bob", "--json", *where)
    assert json.loads(out)["key"].startswith("ng_bob_")
    code, out, err = invoke("keys", "list", "--json", *where)
    listed = [json.loads(line) for line in out.splitlines()]
    assert [(key["name"], key["per_minute"], key["jobs"]) for key in listed] == [
        ("alice", 5, 100),
        ("bob", 600, 100),
    ]
    assert all("digest" not in key for key in listed)
    code, out, _ = invoke("keys", "list", *where)
    assert "alice" in out
    assert invoke("keys", "revoke", "alice", *where) == (0, "revoked alice\n", "")
    _, out, _ = invoke("keys", "list", "--json", *where)
    assert len(out.splitlines()) == 1


def test_keys_of_a_read_only_lake_are_listed(
    invoke: Callable[..., tuple[int, str, str]], lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    add_key(lake, "alice")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, how: not how & os.W_OK and access(path, how))
    assert invoke("keys", "list", "--lake", lake.url)[0] == 0
    assert invoke("keys", "revoke", "alice", "--lake", lake.url)[0] == 3


def test_a_check_of_the_lake_knows_keys(
    invoke: Callable[..., tuple[int, str, str]], tmp_path: Path
):
    where = ("--lake", str(tmp_path / "lake"))
    invoke("keys", "add", "alice", *where)
    assert invoke("lake", "check", *where)[0] == 0
    Lake.open(where[1]).write_bytes("keys/alice.json", b"{")
    code, out, _ = invoke("lake", "check", *where)
    assert code == 5
    assert "keys/alice.json" in " ".join(out.split())
