"""Settings with other constants than the usual ones, for tests and the fault suite."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from nightgrid.workers.settings import Settings
from nightgrid.workers.tuning import Tuning

_CONSTANTS = frozenset(field.name for field in fields(Tuning))


def tuned_settings(**given: Any) -> Settings:
    """Make settings; names of constants go into their `tuning`."""
    constants = {name: given.pop(name) for name in _CONSTANTS & given.keys()}
    return Settings(**given, tuning=Tuning(**constants))


def retuned(settings: Settings, **changes: Any) -> Settings:
    """Copy settings with some of them, or some constants, changed."""
    constants = {name: changes.pop(name) for name in _CONSTANTS & changes.keys()}
    tuning = replace(settings.tuning, **constants)
    return settings.model_copy(update={**changes, "tuning": tuning})
