"""Lines of the log: what stands in them, and what never does."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.contextvars import bind_contextvars, bound_contextvars, clear_contextvars

from nightgrid.workers import logs
from nightgrid.workers.logs import (
    bind_carried,
    carried,
    get_logger,
    logged_to,
    take_over_logging,
)

log = get_logger("nightgrid.test")


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Other tests have worked chunks, and have started servers, in this process.
    clear_contextvars()
    for name in ("uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        for field, fresh in (("propagate", True), ("disabled", False), ("handlers", [])):
            monkeypatch.setattr(logger, field, fresh)
        monkeypatch.setattr(logger, "level", logging.NOTSET)
        logger.manager._clear_cache()
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before
    logs.use_format(None)
    clear_contextvars()


def written(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_is_one_object_with_time_level_logger_event_and_ids(
    capsys: pytest.CaptureFixture[str],
):
    with bound_contextvars(run="r", chunk="seg-0"):
        log.warning("chunk failed", attempt=2, reason="it died")
    log.info("plain")
    first, second = written(capsys)
    assert list(first)[:4] == ["timestamp", "level", "logger", "event"]
    told = {name: first[name] for name in ("level", "logger", "event", "run", "chunk", "attempt")}
    assert told == {
        "level": "warning",
        "logger": "nightgrid.test",
        "event": "chunk failed",
        "run": "r",
        "chunk": "seg-0",
        "attempt": 2,
    }
    assert first["timestamp"].endswith("Z")
    assert "run" not in second


HOSTILE = 'x\n{"event": "forged"}\r\x1b[2J\x00\u2028\u202e\ud800"'


@pytest.mark.parametrize("format_", ["json", "console"])
def test_text_from_outside_makes_no_line_and_moves_no_cursor(
    capsys: pytest.CaptureFixture[str], format_: logs.LogFormat
):
    logs.use_format(format_)
    take_over_logging(logging.INFO)
    bind_contextvars(request=HOSTILE)
    log.warning("unexpected", path=HOSTILE, nested={HOSTILE: [HOSTILE]}, **{HOSTILE: HOSTILE})
    logging.getLogger("celery").warning("took %s", HOSTILE)
    text = capsys.readouterr().err
    assert len(text.splitlines()) == 2
    assert all(c.isprintable() or c == "\n" for c in text)
    if format_ == "json":
        assert json.loads(text.splitlines()[0])["path"] == HOSTILE
        assert json.loads(text.splitlines()[1])["event"] == f"took {HOSTILE}"


@pytest.mark.parametrize("format_", ["json", "console"])
@pytest.mark.parametrize(
    "fields",
    [
        {"error": "cannot reach redis://default:hunter2hunter2@redis:6379/0"},
        {"error": "cannot reach redis://:hunter2hunter2@redis:6379/0"},
        {"lake": "s3://bucket/x?endpoint=http://h&secret_access_key=hunter2hunter2&region=eu"},
        {"error": "AWS_SECRET_ACCESS_KEY=hunter2hunter2"},
        {"header": "Authorization: Bearer hunter2hunter2"},
        {"error": f"no key ng_joe_{'hunter2' * 6}"},
        {"word": f"ng_joe_{'hunter2' * 6}"},
        {"word": "redis://:hunter2hunter2@redis"},
        {"word": "token=hunter2hunter2"},
        {"redis_password": "hunter2hunter2"},
        {"api_key": "hunter2hunter2"},
        {"settings": {"smtp_password": "hunter2hunter2"}},
        {"settings": [["rediss://u:hunter2hunter2@h"]]},
        {"error": ValueError("rediss://u:hunter2hunter2@h")},
    ],
    ids=str,
)
def test_secrets_are_hidden(
    capsys: pytest.CaptureFixture[str], format_: logs.LogFormat, fields: dict[str, Any]
):
    logs.use_format(format_)
    log.warning("driver waits", **fields)
    text = capsys.readouterr().err
    assert "hunter2" not in text
    assert "***" in text


@pytest.mark.parametrize("format_", ["json", "console"])
def test_secrets_of_a_traceback_are_hidden_and_its_lines_are_marked(
    capsys: pytest.CaptureFixture[str], format_: logs.LogFormat
):
    logs.use_format(format_)
    take_over_logging(logging.INFO)
    try:
        raise ValueError("redis://:hunter2@h\n2026-01-01 [info] forged")
    except ValueError:
        log.error("unexpected", exc_info=True)  # noqa: G201 - a logger of ours
        logging.getLogger("uvicorn.error").exception("failed")
    text = capsys.readouterr().err
    assert "hunter2" not in text
    if format_ == "json":
        told = [json.loads(line) for line in text.splitlines()]
        assert [line["logger"] for line in told] == ["nightgrid.test", "uvicorn.error"]
        assert all("ValueError" in line["exception"] for line in told)
    else:
        own = [line for line in text.splitlines() if not line.startswith("    | ")]
        assert len(own) == 2


@pytest.mark.parametrize("value", [float("nan"), object(), b"\xff", {1: {2: [3]}}], ids=type)
def test_a_field_of_any_type_is_written(capsys: pytest.CaptureFixture[str], value: Any):
    log.info("odd", value=value)
    (line,) = written(capsys)
    assert line["event"] == "odd"


def test_a_file_takes_the_lines_as_json_and_the_terminal_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with logged_to(tmp_path / "logs" / "driver.log"):
        log.warning("driver waits", error="é")
    log.info("after")
    (line,) = written(capsys)
    assert line["event"] == "after"
    (told,) = (tmp_path / "logs" / "driver.log").read_text().splitlines()
    assert json.loads(told)["event"] == "driver waits"


def test_a_log_that_cannot_be_written_loses_only_its_lines(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with logged_to(tmp_path / "file" / "driver.log"):
        log.warning("driver waits")


def test_ids_are_carried_in_a_header(capsys: pytest.CaptureFixture[str]):
    with bound_contextvars(request="abc-1", night="n1", job="j"):
        header = carried()
    assert header == {"request": "abc-1", "night": "n1"}
    bind_carried(None)
    log.info("bare")
    bind_carried(header)
    log.info("carried")
    bare, told = written(capsys)
    assert not {"request", "night", "run"} & bare.keys()
    assert (told["request"], told["night"]) == ("abc-1", "n1")
