"""`nightgrid rank`: a lake's boards are ranked once, and accuracy is shown by month."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.games.strands.ranking import vocabularies
from nightgrid.archive.games.strands.ranking.meant import MeantGame
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import NAME, fitted_weights
from nightgrid.archive.lake.schemas import RANK_ACCURACY
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of

Invoke = Callable[..., tuple[int, str, str]]
SAMPLE = Path(__file__).parents[3] / "service" / "sample" / "strands"


@pytest.fixture(autouse=True)
def small_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the words of the sample, and no model."""
    words = {}
    for path in sorted(SAMPLE.glob("*.json"))[:2]:
        payload = json.loads(path.read_text())
        words |= dict.fromkeys([payload["spangram"], *payload["themeWords"]], 400)
    small = Ranker(fitted_weights(), vocabulary_of(words, set(words), []), None)
    monkeypatch.setattr(MeantGame, "open", lambda *_: small)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "payloads"
    folder.mkdir()
    for path in sorted(SAMPLE.glob("*.json"))[:2]:
        shutil.copyfile(path, folder / path.name)
    return folder


def test_a_night_ranks_and_the_command_has_nothing_left(
    invoke: Invoke, source: Path, tmp_path: Path
):
    lake = str(tmp_path / "lake")
    common = ("--lake", lake, "--inline")
    code, out, err = invoke(
        "nightly", "--source", str(source), "--game", "strands", "--ask", "first", "--rank",
        "--no-prefect", "--json", *common,
    )  # fmt: skip
    assert code == 0, err
    night = json.loads(out)
    assert night["ranked"] == 2
    assert (night["ranker"], night["with_model"]) == (f"{NAME}-alone", False)
    assert night["paths"]["rankings"].endswith("gold/rank_accuracy.parquet")
    code, out, _ = invoke("rank", "--json", *common)
    assert code == 0
    report = json.loads(out)
    assert (report["boards"], report["ranked"], report["known"]) == (2, 0, 2)
    assert report["ranker"] == f"{NAME}-alone"
    assert report["all"]["first"] == 2
    rows = Lake.open(lake).read_table("gold/rank_accuracy.parquet", RANK_ACCURACY)
    assert rows.column("official_place").to_pylist() == [1, 1]
    assert rows.column("miss").to_pylist() == [None, None]
    code, out, _ = invoke("rank", *common)
    assert "2 boards: 0 ranked now, 2 before" in out
    assert "its models are not installed" in out
    assert "2026-01" in out


def test_programs_read_codes_of_misses_and_people_phrases(
    invoke: Invoke, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Given a vocabulary without the words of the boards, Then both say why no cover is listed."""
    knowing_none = Ranker(fitted_weights(), vocabulary_of({"OTHER": 400}, {"OTHER"}, []), None)
    monkeypatch.setattr(MeantGame, "open", lambda *_: knowing_none)
    monkeypatch.setattr(vocabularies, "ranking_vocabulary", lambda: knowing_none.vocabulary)
    common = ("--lake", str(tmp_path / "lake"), "--inline")
    night = ("nightly", "--source", str(source), "--game", "strands", "--ask", "first")
    code, _, err = invoke(*night, "--no-prefect", *common)
    assert code == 0, err
    code, out, _ = invoke("rank", "--json", *common)
    assert (code, json.loads(out)["all"]["misses"]) == (0, {"no_theme_word": 2})
    code, out, _ = invoke("rank", *common)
    assert "a theme word is not in the vocabulary (2)" in out


def test_a_nights_ranking_answers_a_submit_and_another_clue_is_another_job(
    invoke: Invoke, source: Path, tmp_path: Path
):
    """Given a lake whose boards are ranked, Then the answer needs no server."""
    lake = ("--lake", str(tmp_path / "lake"))
    night = ("nightly", "--source", str(source), "--game", "strands", "--ask", "first", "--rank")
    assert invoke(*night, "--no-prefect", "--inline", *lake)[0] == 0
    payload = min(source.glob("*.json"))
    code, out, _ = invoke("submit", str(payload), "--rank", *lake, "--wait", "0")
    assert code == 0
    assert re.search(rf"\d+ covers? ranked in .* by {NAME}-alone:", out)
    assert "What each of its words adds:" in out
    code, out, _ = invoke("submit", str(payload), "--rank", *lake)
    job = out.split()[0]
    code, out, _ = invoke("result", job, "--json", *lake)
    row = json.loads(out)
    assert (code, row["ask"], row["solver_version"]) == (0, "meant(100)", f"{NAME}-alone")
    assert row["count"] == len(row["solutions"])
    assert row["solutions"][0]["clue"] == json.loads(payload.read_text())["clue"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(json.loads(payload.read_text()) | {"clue": "Another one"}))
    code, _, err = invoke("submit", str(other), "--rank", *lake, "--wait", "0")
    assert (code, "no server answers" in err) == (1, True)
