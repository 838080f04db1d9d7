"""Figures in Redis: one hash a lake, which every process adds to and the HTTP service reads.

Its fields are names of ours with labels of ours, about a hundred: reading it costs the same after
ten years. A wiped server begins at zero, which Prometheus takes for a restart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.figures import TOLD, Sample, put_back, take_gathered
from nightgrid.workers.settings import Settings

FIELDS_MAX = 2_000
"""More fields are not ours: nothing is read of a hash that has more."""
_SEPARATOR = "|"
_FIGURES = {figure.name: figure for figure in TOLD}


def send_figures(client: redis.Redis, settings: Settings) -> None:
    """Send what this process has gathered. A server that does not answer has it next time."""
    send_samples(client, settings, take_gathered())


def send_samples(client: redis.Redis, settings: Settings, samples: Mapping[Sample, float]) -> None:
    """Send these samples; what a server that does not answer misses is gathered once more."""
    if not samples:
        return
    key = _key(settings)
    pipe = client.pipeline(transaction=False)
    for (name, labels), amount in samples.items():
        field = _SEPARATOR.join((name, *labels))
        if _FIGURES[name].kind == "counter":
            pipe.hincrbyfloat(key, field, amount)
        else:
            pipe.hset(key, field, str(amount))
    try:
        # What another program has written there costs that figure alone.
        pipe.execute(raise_on_error=False)
    except redis.RedisError:
        put_back(samples)


def read_figures(client: redis.Redis, settings: Settings) -> dict[Sample, float]:
    """Read what all processes have sent; fields of other programs are left out.

    Raises redis.RedisError.
    """
    try:
        if int(_reply(client.hlen(_key(settings)))) > FIELDS_MAX:
            return {}
        told: dict[str, str] = _reply(client.hgetall(_key(settings)))
    except redis.ResponseError:
        return {}
    found = {}
    for field, text in told.items():
        name, *labels = field.split(_SEPARATOR)
        figure = _FIGURES.get(name)
        if figure is None or len(labels) != len(figure.labels):
            continue
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value):
            found[name, tuple(labels)] = value
    return found


def _reply(value: Any) -> Any:
    return value


def _key(settings: Settings) -> str:
    return f"{key_prefix(settings)}figures"
