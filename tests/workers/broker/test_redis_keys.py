"""Keys of two lakes on one server, under one NIGHTGRID_KEY_PREFIX, have nothing in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.archive.lake.identity import LAKE_FILE
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.app import client_app
from nightgrid.workers.broker.redis_keys import current_id, key_prefix, make_lake_id
from nightgrid.workers.settings import Settings


def of(folder: Path) -> Settings:
    return Settings(lake=str(folder), key_prefix="p:")


def test_keys_begin_with_the_prefix_and_the_id_for_any_location(tmp_path: Path) -> None:
    settings = of(tmp_path / "one")
    made = make_lake_id(settings)
    assert key_prefix(settings) == f"p:{made}:"
    assert client_app(settings).conf.broker_transport_options["global_keyprefix"] == f"p:{made}:"
    (tmp_path / "one").rename(tmp_path / "moved")
    assert key_prefix(of(tmp_path / "moved")) == f"p:{made}:"
    assert key_prefix(settings) == f"p:{made}:", "a lake that is away for a while keeps its keys"
    assert current_id(settings) is None


def test_readers_write_nothing_and_see_nothing(tmp_path: Path) -> None:
    old = of(tmp_path)
    looked = key_prefix(old)
    assert list(tmp_path.iterdir()) == []
    assert looked != key_prefix(of(tmp_path / "other"))
    make_lake_id(old)
    assert key_prefix(old) != looked, "no process sends to the keys of a lake without an id"


def test_senders_write_the_id_of_an_old_lake(tmp_path: Path) -> None:
    settings = of(tmp_path / "one")
    client_app(settings)
    assert current_id(settings) is not None


def test_another_lake_in_the_same_place_has_other_keys(tmp_path: Path) -> None:
    """Given a folder over which a file system is mounted, Then the keys of its lake are used."""
    settings = of(tmp_path)
    first = make_lake_id(settings)
    (tmp_path / LAKE_FILE).unlink()
    assert make_lake_id(settings) != first
    assert first not in key_prefix(settings)


def test_a_damaged_id_stops_only_new_processes(tmp_path: Path) -> None:
    known, unknown = of(tmp_path / "known"), of(tmp_path / "unknown")
    before = make_lake_id(known)
    for settings in (known, unknown):
        Path(settings.lake).mkdir(exist_ok=True)
        (Path(settings.lake) / LAKE_FILE).write_text("{")
    assert before in key_prefix(known)
    with pytest.raises(PermanentError, match="holds no id"):
        key_prefix(unknown)
    with pytest.raises(PermanentError, match="holds no id"):
        client_app(unknown)
