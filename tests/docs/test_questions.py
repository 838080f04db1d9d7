"""The page of five questions: it has the queries of docs/questions.py, and these can be asked."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from nightgrid.archive.views.sql import columns_needed

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = runpy.run_path(str(ROOT / "docs" / "questions.py"))
PAGE = (ROOT / "docs" / "explanation" / "five-questions.md").read_text()


@pytest.mark.parametrize("name", QUESTIONS["QUESTIONS"])
def test_every_question_stands_in_the_page_with_an_answer_and_can_be_asked(name: str) -> None:
    sql = QUESTIONS["QUESTIONS"][name]
    assert "counts" in columns_needed(sql)
    _, _, rest = PAGE.partition(f"<!-- {name} -->\n")
    block, _, _ = rest.partition("<!-- end -->")
    asked, _, told = block.partition("```text\n")
    assert QUESTIONS["command"](sql) in asked
    assert len(told.splitlines()) > 2
