"""Where the settings that are said are said: an option, the environment, a file."""

from __future__ import annotations

import os
from collections.abc import Collection

from pydantic import SecretStr

from nightgrid.solvers.sentences import without_credentials
from nightgrid.workers.settings import Settings, setting_fields
from nightgrid.workers.settings_sources import config_path, read_config, variable


def origins(settings: Settings, given: Collection[str] = ()) -> list[tuple[str, str, str]]:
    """List the settings that are said: (name, value without its password, where it is said)."""
    path = config_path()
    told = read_config(path, setting_fields())
    found = []
    for name in setting_fields():
        value = getattr(settings, name)
        text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        if name in given:
            found.append((name, without_credentials(text), "option"))
        elif os.environ.get(variable(name)):
            found.append((name, without_credentials(text), "environment"))
        elif name in told:
            found.append((name, without_credentials(text), str(path)))
    return found
