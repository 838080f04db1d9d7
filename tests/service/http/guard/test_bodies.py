"""How deep a body is nested, and which numbers it may have."""

from __future__ import annotations

import pytest

from nightgrid.service.http.guard import bodies
from nightgrid.service.http.problems import Problem


def test_what_is_too_deep_is_refused() -> None:
    data = b'{"a":' + b"[" * 32 + b"]" * 32 + b"}"
    with pytest.raises(Problem) as caught:
        bodies.read_json(data)
    assert caught.value.slug == "too-deep"
    bodies.read_json(b'{"a":' + b"[" * 31 + b"]" * 31 + b"}")


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9.9e999", '[1, {"b": 1E309}]'])
def test_a_number_that_is_infinite_is_refused(text: str) -> None:
    with pytest.raises(Problem) as caught:
        bodies.read_json(f'{{"puzzle": {{"more": {text}}}}}'.encode())
    assert (caught.value.kind.status, caught.value.slug) == (400, "bad-json")
    assert caught.value.errors[0]["pointer"].startswith("/puzzle/more")
