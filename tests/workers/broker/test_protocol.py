"""The protocol page matches the code, which parses its examples."""

import json
import re
from dataclasses import asdict, fields
from pathlib import Path

import pytest
import toy_game as toy

from nightgrid.archive.lake.schemas import MANIFEST_HEAD, PARTS
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.strands.rules import Rules
from nightgrid.workers.app import WORK_CHUNK
from nightgrid.workers.broker.notices import parse_announcement
from nightgrid.workers.broker.queues import NAMES, Demand, QueueStatus
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.ondemand.status import JobStatus
from nightgrid.workers.ondemand.submissions import (
    Submission,
    end_job,
    ended_path,
    read_wanted,
)
from nightgrid.workers.runs.attempt_notes import write_failure
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.listed import listed_part, ranks_json, ranks_of
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.runs.staged import Carried, stage_part
from tests.workers.conftest import COUNT, plan
from tests.workers.ondemand.keeping import submit_without_server

pytestmark = pytest.mark.usefixtures("toy_in_place_of_pips")

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "protocol.md").read_text(
    encoding="utf-8"
)
EXAMPLES = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def example(*keys):
    """The first example that has all of these keys."""
    return next(e for e in EXAMPLES if set(keys) <= set(e))


def read(lake, path):
    return json.loads(lake.read_bytes(path))


@pytest.fixture
def run_folder(lake, settings, kept_files):
    run_id = plan(lake, toy.boards(10))
    (ref,) = open_run(lake, run_id).chunks()
    solve_chunk(lake, ref, settings, "batch-33fd63d1de7e")
    finish_run(lake, run_id)
    write_failure(lake, ref, Reason(code=ReasonCode.WORKER_LOST))
    return f"runs/run={run_id}"


def test_files_of_a_run_have_the_keys_of_their_examples(lake, run_folder):
    assert set(example("answered_count")) == set(read(lake, f"{run_folder}/plan.json"))
    asked = next(e for e in EXAMPLES if "puzzle_count" in e and "answered_count" not in e)
    assert set(asked) == set(read(lake, f"{run_folder}/asked.json"))
    with lake.open_parquet(f"{run_folder}/manifest/seg-00000.parquet") as file:
        about = json.loads(file.metadata.metadata[b"nightgrid.segment"])
    assert set(example("kind")) == set(about)
    assert set(example("result_count")) == set(read(lake, f"{run_folder}/DONE.json"))
    name = "seg-00000-chunk-00000"
    note = read(lake, f"{run_folder}/started/{name}-attempt-1.json")
    assert set(example("failure")) == set(note)


def test_every_file_of_a_run_is_on_the_page(lake, run_folder):
    for path in lake.list(run_folder):
        name = path.removeprefix(f"{run_folder}/").split("/")[0]
        assert f"`{name}" in PAGE


def test_table_rows_have_the_columns_of_their_schemas():
    rows = [e for e in EXAMPLES if "part_path" in e and "status" not in e]
    assert len(rows) == 5
    for row in rows:
        assert list(row) == [field.name for field in MANIFEST_HEAD]
    assert json.loads(rows[1]["part"])
    stage = stage_part(rows[3]["part"])
    assert stage is not None
    assert canonical_json(stage.to_json()) == rows[3]["part"]
    assert set(json.loads(rows[2]["part"])) == {"under", "from", "to"}
    listed = listed_part(rows[4]["part"])
    assert listed is not None
    assert canonical_json(listed.to_json()) == rows[4]["part"]
    parts = [e for e in EXAMPLES if "children" in e]
    assert [row["status"] for row in parts] == ["solved", "split", "solved", "carried"]
    assert Carried.from_json(parts[3]["children"]).to_json() == parts[3]["children"]
    assert ranks_of(parts[2]) == (listed.first, listed.stop)
    assert ranks_json(listed.first, listed.stop) == parts[2]["children"]
    for row in parts:
        assert list(row) == PARTS.names


def test_rules_of_strands_are_on_the_page_as_they_are_written():
    assert f'"{Rules()}"' in PAGE


def test_submissions_and_ends_are_those_of_the_page(lake, settings):
    job = submit_without_server(lake, settings)(toy.ToyPuzzle(number=1, behaviour=0), COUNT)
    path = read_wanted(lake, job).last.path
    shown = example("client")
    assert set(shown) == set(read(lake, path))
    submission = Submission.from_json(shown)
    puzzle = PipsGame().puzzle_from_json(shown["puzzle"])
    assert submission.puzzle_id == PipsGame().puzzle_id(puzzle)
    assert submission.job_id == submission.question.job_id(submission.puzzle_id)
    assert Budget().limits == shown["budget"]["part"]
    end_job(lake, read_wanted(lake, job), "refused", "no worker has its words")
    assert set(example("end")) == set(read(lake, ended_path(job)))
    chunk = next(e for e in EXAMPLES if "segment" in e and "event" not in e)
    assert asdict(ChunkRef(**chunk)) == chunk


def test_announcements_and_states_are_read_as_the_code_reads_them():
    announcement = parse_announcement(json.dumps(example("event")))
    assert announcement.event == "failed"
    assert announcement.reason is not None
    assert announcement.reason.code is ReasonCode.PROCESS_LOST
    status = example("state", "chunks_total")
    assert set(status) == {field.name for field in fields(JobStatus)}
    queues = example("interactive")
    assert set(queues) == set(NAMES)
    for figures in queues.values():
        assert asdict(QueueStatus(**figures)) == figures


def test_every_task_and_queue_is_on_the_page():
    for name in (WORK_CHUNK, *NAMES):
        assert f"`{name}`" in PAGE


def test_the_demand_is_on_the_page_as_it_is_reported():
    assert list(example("chunks_waiting")) == [field.name for field in fields(Demand)]
