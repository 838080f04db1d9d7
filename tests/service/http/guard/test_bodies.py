"""How deep a body is nested, told the quick way and the careful way, and room for all bodies."""

from __future__ import annotations

import json
import random

import pytest
from starlette.types import Message

from nightgrid.service.http.guard import bodies
from nightgrid.service.http.problems import Problem

WORDS = ["[", "]", "{", "}", '"', "\\", '"[[["', '"\\"["', ",", "1", " "]


def depth_by_tokens(data: bytes, most: int) -> int:
    deepest = depth = 0
    for token in bodies._TOKEN.finditer(data):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token[0], 0)
        deepest = max(deepest, depth)
        if deepest > most:
            break
    return deepest


@pytest.mark.parametrize("seed", range(20))
def test_no_text_is_told_less_deep_than_it_is(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(200):
        data = "".join(draw.choices(WORDS, k=draw.randrange(30))).encode()
        careful = depth_by_tokens(data, 4)
        assert min(bodies._depth_of(data, 4), 5) >= careful, data


@pytest.mark.parametrize("depth", [1, 2, 31, 32])
def test_sound_json_is_told_as_deep_as_it_is(depth: int) -> None:
    value: object = {"text": "[[[{", "more": []} if depth > 1 else {}
    for _ in range(depth - 2):
        value = [value, {}]
    data = json.dumps({"a": value} if depth > 2 else value).encode()
    told = bodies._depth_of(data, 32)
    assert told == depth_by_tokens(data, 32)
    bodies.read_json(json.dumps({"a": "x"}).encode(), 32)


def test_what_is_too_deep_is_refused() -> None:
    data = b'{"a":' + b"[" * 32 + b"]" * 32 + b"}"
    with pytest.raises(Problem) as caught:
        bodies.read_json(data, 32)
    assert caught.value.kind.slug == "too-deep"
    bodies.read_json(b'{"a":' + b"[" * 31 + b"]" * 31 + b"}", 32)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9.9e999", '[1, {"b": 1E309}]'])
def test_a_number_that_is_infinite_is_refused(text: str) -> None:
    with pytest.raises(Problem) as caught:
        bodies.read_json(f'{{"puzzle": {{"more": {text}}}}}'.encode(), 32)
    assert (caught.value.status, caught.value.kind.slug) == (400, "bad-json")
    assert caught.value.errors[0]["pointer"].startswith("/puzzle/more")


def test_large_bodies_leave_room_for_small_ones() -> None:
    room = bodies.Room(100_000)
    with room.share() as large:
        large(bodies.SMALL_BYTES)
        large(100_000)
        with room.share() as small:
            small(bodies.SMALL_BYTES)
        with room.share() as other, pytest.raises(Problem) as caught:
            other(bodies.SMALL_BYTES + 1)
        assert (caught.value.status, caught.value.kind.slug) == (503, "no-room")
        assert caught.value.headers["Retry-After"]
    with room.share() as again:
        again(bodies.SMALL_BYTES + 100_000)


@pytest.mark.anyio
async def test_a_body_that_is_read_takes_room() -> None:
    room, data = bodies.Room(1), b"a" * (bodies.SMALL_BYTES + 2)

    async def receive() -> Message:
        return {"type": "http.request", "body": data, "more_body": False}

    with room.share() as take, pytest.raises(Problem, match="large bodies are under way"):
        await bodies.read_body(bodies.Headers({}), receive, len(data), take)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
