"""`nightgrid keys`: who may use the HTTP service from other machines, and how much."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from nightgrid.service.options.shared_options import Json, LakeOption, read_settings
from nightgrid.service.terminal.console import emit, note, say, say_table
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import PermanentError


class Action(StrEnum):
    """What to do with the keys."""

    ADD = "add"
    LIST = "list"
    REVOKE = "revoke"


def keys(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="add|list|revoke",
            help="add creates a key and prints it once; list shows names and limits.",
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of the key: a-z, 0-9 and '-'."),
    ] = None,
    per_minute: Annotated[
        int | None,
        typer.Option(metavar="N", help="With add: requests a minute. Default: 600."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", help="With add: jobs that are open at once. Default: 100."),
    ] = None,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Manage who may use the HTTP service beyond this machine.

    A service that is reachable from other machines requires a key: `Authorization: Bearer KEY`. The
    lake stores a hash of it. A running service notices changes within seconds.
    """
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.service.http.guard.keys import JOBS, PER_MINUTE, add_key, read_keys, revoke_key

    if (name is None) is not (action is Action.LIST):
        wanted = "takes no NAME" if action is Action.LIST else "needs a NAME"
        raise PermanentError(f"keys {action} {wanted}")
    if action is not Action.ADD and not (per_minute is None and jobs is None):
        raise PermanentError("--per-minute and --jobs go with keys add")
    store = Lake.open(read_settings(lake=lake, writes=action is not Action.LIST).lake)
    if action is Action.LIST:
        found = read_keys(store)
        if json:
            for key in found.values():
                emit(key.model_dump(exclude={"digest"}))
        elif found:
            rows = [
                (key.name, f"{key.per_minute:,}", f"{key.jobs:,}", key.created_at)
                for key in found.values()
            ]
            columns = ("key", "requests a minute", "open jobs", "since")
            say_table(columns, rows, numbers=columns[1:3])
        else:
            note(f"{store.url} has no key; nightgrid keys add NAME creates one")
        return Exit.OK
    assert name is not None
    if action is Action.REVOKE:
        revoke_key(store, name)
        if json:
            emit({"name": name, "revoked": True})
        else:
            say(f"revoked {name}")
        return Exit.OK
    limits = {
        "per_minute": PER_MINUTE if per_minute is None else per_minute,
        "jobs": JOBS if jobs is None else jobs,
    }
    text = add_key(store, name, **limits)
    if json:
        emit({"name": name, "key": text, **limits})
    else:
        say(text)
        note("this key is shown only once: the lake stores a hash of it")
    return Exit.OK
