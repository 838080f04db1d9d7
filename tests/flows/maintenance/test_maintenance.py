"""Checks find damage in a lake, and repairs fix it."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.chaos.harm import HARMS, harm
from benchmarks.tuned import tuned_settings
from nightgrid.archive.ingest.puzzles import readable_puzzle_ids
from nightgrid.archive.lake.faults import LakeRefusesError, NewerSchemaError, set_aside
from nightgrid.archive.lake.schemas import RESULTS, SCHEMA_VERSION, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.maintenance.check import KINDS, Finding, Mend, check_lake_files, kind_of
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.start import run_count
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.lease import holding
from nightgrid.workers.settings import Settings
from tests.flows.conftest import SAMPLE

SPEC = "pips:n=4,seed=2"


def night_of(lake: Lake, source: Path) -> NightSettings:
    asks = (Ask(kind="count"), Ask(kind="all", limit=5))
    games = (NightGame(game="pips", source=str(source), asks=asks),)
    return NightSettings(games=games, executor="inline", workers=settings_of(lake))


def count_of(lake: Lake) -> CountSettings:
    return CountSettings(corpus=SPEC, executor="inline", workers=settings_of(lake))


def settings_of(lake: Lake) -> Settings:
    return tuned_settings(lake=lake.url, games="pips", reconcile_seconds=0.01)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A lake after a night and a count, and the night's source."""
    base = tmp_path_factory.mktemp("worked")
    source = base / "payloads"
    source.mkdir()
    for path in sorted(SAMPLE.glob("*.json"))[:2]:
        shutil.copyfile(path, source / path.name)
    (source / "2030-01-01.json").write_bytes(b"{")
    lake = Lake.open(str(base / "lake"))
    work_night(night_of(lake, source))
    run_count(count_of(lake), prefect=False)
    # As after runs of more jobs.
    lake.write_bytes("state/pips-0.json", b'{"hint": 1}')
    return base / "lake", source


@pytest.fixture
def lake(worked: tuple[Path, Path], tmp_path: Path) -> Lake:
    shutil.copytree(worked[0], tmp_path / "lake")
    return Lake.open(str(tmp_path / "lake"))


def answers(lake: Lake) -> list[dict[str, Any]]:
    columns = [name for name in RESULTS.names if name not in ("kernel_ns", "run_id")]
    table = lake.read_table("results", RESULTS, columns)
    # A row may be in two files until they are merged.
    return table.group_by(columns).aggregate([]).sort_by("job_id").to_pylist()


def everything(lake: Lake) -> list[dict[str, Any]]:
    solutions = lake.read_table("solutions", SOLUTIONS).drop_columns(["run_id"])
    return (
        answers(lake)
        + solutions.sort_by([("job_id", "ascending"), ("rank", "ascending")]).to_pylist()
    )


def findings(lake: Lake) -> list[Finding]:
    return list(check_lake_files(lake))


def one_of_each(lake: Lake) -> dict[str, str]:
    """A file of each kind that the lake has, by the kind's pattern."""
    found: dict[str, str] = {}
    for path in lake.list(""):
        kind = next((pattern.pattern for pattern, _ in KINDS if pattern.match(path)), None)
        if kind is not None:
            found.setdefault(f"{kind} {path.split('/')[0]}", path)
    return found


def test_harm_to_a_file_of_each_kind_is_found_and_repaired(
    lake: Lake, worked: tuple[Path, Path]
) -> None:
    """Given one damaged file of each kind, Then a repair and the next run lose no answer."""
    before = answers(lake)
    harmed = {
        path
        for path in one_of_each(lake).values()
        if (known := kind_of(path)) and known[0] is not Mend.PERSON
    }
    assert len(harmed) >= 7
    for path in harmed:
        harm(lake, path, "truncate")
    named = {found.path: found for found in findings(lake)}
    assert harmed <= named.keys()
    assert all(found.what and found.advice for found in named.values())
    assert all(one.mended for one in repair_lake(lake))
    assert list(repair_lake(lake)) == []
    work_night(night_of(lake, worked[1]))
    run_count(count_of(lake), prefect=False)
    assert answers(lake) == before
    assert findings(lake) == []


def test_damage_hides_no_loss(lake: Lake) -> None:
    """Given damaged files, Then lost files are named too, and lost boards are back at once."""
    boards = readable_puzzle_ids(lake, "pips")
    bodies = [path for path in lake.list("raw/game=pips") if path.endswith(".body")]
    _sound, gone, damaged = bodies
    harm(lake, lake.list("results")[0], "truncate")
    harm(lake, damaged, "truncate")
    for path in (gone, *lake.list("puzzles/pips")):
        lake.delete(path)
    lost = {found.path for found in findings(lake) if found.fault == "lost"}
    assert lost >= {gone, "editions/pips.parquet"}
    left = {one.path for one in repair_lake(lake) if not one.mended}
    assert left == {gone, damaged} == {found.path for found in findings(lake)}
    back = readable_puzzle_ids(lake, "pips").to_pylist()
    assert 0 < len(back) < len(boards)


def test_nothing_is_wrong_with_a_sound_lake(lake: Lake) -> None:
    before = {path: lake.read_bytes(path) for path in lake.list("")}
    assert findings(lake) == []
    assert list(repair_lake(lake)) == []
    after = {path: lake.read_bytes(path) for path in lake.list("") if "leases" not in path}
    assert after == {path: data for path, data in before.items() if "leases" not in path}


@pytest.mark.parametrize("kind", HARMS)
@pytest.mark.parametrize("folder", ["results", "solutions"])
def test_harmed_answers_are_rebuilt_by_the_next_runs(
    lake: Lake, worked: tuple[Path, Path], folder: str, kind: str
) -> None:
    before = everything(lake)
    for path in lake.list(folder):
        harm(lake, path, kind)
    told = list(repair_lake(lake))
    assert all(one.mended for one in told)
    assert findings(lake) == []
    work_night(night_of(lake, worked[1]))
    run_count(count_of(lake), prefect=False)
    assert everything(lake) == before
    assert findings(lake) == []


@pytest.mark.parametrize("survived", range(0, 16, 3))
def test_a_repair_that_was_killed_is_ended_by_the_next(
    lake: Lake, worked: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    class Killed(BaseException):
        pass

    # The lease was held by this living process.
    monkeypatch.setattr("nightgrid.workers.lease.EXPIRY_S", 0.05)
    before = answers(lake)
    for folder in ("results", "puzzles", "editions", "state"):
        harm(lake, lake.list(folder)[0], "truncate")
    left = [survived]

    def dying(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any, **more: Any) -> Any:
            if not left[0]:
                raise Killed
            left[0] -= 1
            return change(*arguments, **more)

        return changed

    with monkeypatch.context() as patch:
        for name in ("_commit", "delete"):
            patch.setattr(Lake, name, dying(getattr(Lake, name)))
        with pytest.raises(Killed):
            list(repair_lake(lake))
    list(repair_lake(lake))
    assert findings(lake) == []
    work_night(night_of(lake, worked[1]))
    run_count(count_of(lake), prefect=False)
    assert answers(lake) == before


def test_a_repair_names_what_is_left(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given tables that are not rebuilt, Then the repair does not report them as repaired."""
    lake.delete(lake.list("puzzles")[0])
    monkeypatch.setattr(
        "nightgrid.flows.maintenance.repair.normalise",
        lambda *_, **__: SimpleNamespace(edition_count=0),
    )
    *_, last = repair_lake(lake)
    assert not last.mended
    assert "still is, after 3 rounds" in last.what


def test_a_lake_of_a_later_version_is_named_and_not_repaired(lake: Lake) -> None:
    (path, *_) = lake.list("results")
    rows = lake.read_table(path, RESULTS)
    later = {**RESULTS.metadata, b"nightgrid.schema_version": str(SCHEMA_VERSION + 1).encode()}
    lake.write_table(path, rows.replace_schema_metadata(later))
    harm(lake, lake.list("state")[0], "empty")
    assert {found.fault for found in findings(lake)} == {"newer", "damaged"}
    before = lake.list("")
    with pytest.raises(NewerSchemaError):
        list(repair_lake(lake))
    assert [path for path in lake.list("") if "leases" not in path] == [
        path for path in before if "leases" not in path
    ]


class OfAnotherUser:
    """The storage of a lake of which one file may not be read."""

    def __init__(self, files: Any, path: str) -> None:
        self._files, self._path = files, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def open_file(self, path: str) -> Any:
        if path == self._path:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return self._files.open_file(path)


@pytest.mark.parametrize(
    "folder", ["results", "puzzles", "raw/game=pips", "runs/run=", "editions", "corpora"]
)
def test_a_file_that_may_not_be_read_is_named_and_never_deleted(lake: Lake, folder: str) -> None:
    """Given a sound file of another user, When the lake is repaired, Then it stays as it is."""
    path = next(name for name in lake.list("") if name.startswith(folder))
    before = {name: lake.read_bytes(name) for name in lake.list("") if "leases" not in name}
    lake._storage = OfAnotherUser(lake._storage, path)
    assert [(found.path, found.fault) for found in findings(lake)][:1] == [(path, "unreadable")]
    assert {found.fault for found in findings(lake)} == {"unreadable"}
    with pytest.raises(LakeRefusesError, match=f"^{path}: the lake refuses: .*Permission denied"):
        list(repair_lake(lake))
    with pytest.raises(LakeRefusesError):
        set_aside(lake, path)
    again = Lake.open(lake.url)
    after = {name: again.read_bytes(name) for name in again.list("") if "leases" not in name}
    assert after == before


def test_a_repair_waits_for_no_night(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nightgrid.workers.lease.RENEW_EVERY_S", 0.1)
    harm(lake, lake.list("state")[0], "empty")
    with (
        holding(lake, "night", ""),
        pytest.raises(TransientError, match="a night or a repair is running"),
    ):
        list(repair_lake(lake))
    assert findings(lake)[0].mend is Mend.ASIDE
