"""The connection class builds on names that uvicorn does not promise: which of them are gone."""

from __future__ import annotations

import ast
import asyncio
import inspect

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from nightgrid.service.http.guard.connections import Connection

OWN = frozenset({"most", "note", "turn", "is_waited_for", "drop"})
"""What the class has beside uvicorn's names and its private ones."""


def reads(of: str) -> set[str]:
    """Name the attributes of `of` ("self", "self.cycle") that the class reads or sets."""
    tree = ast.parse(inspect.getsource(Connection))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == of
    }


def is_gone(owner: str, name: str) -> str:
    return (
        f"uvicorn {uvicorn.__version__} has no {owner}.{name}, on which the connections of the "
        "service build (service/http/guard/connections, ADR 47): take what has its place, or bound "
        "uvicorn below this release in pyproject.toml"
    )


def test_uvicorn_has_every_name_that_connections_use() -> None:
    """Given this release of uvicorn, Then its connection has what ours takes from it."""

    async def make() -> HttpToolsProtocol:
        config = uvicorn.Config(Starlette(), log_config=None)
        config.load()
        made = HttpToolsProtocol(config, ServerState(), {})
        # Where a request begins, it sets the rest.
        made.on_message_begin()
        return made

    uvicorns = asyncio.run(make())
    used = {name for name in reads("self") - OWN if not name.startswith("_")}
    assert {"cycle", "pipeline", "transport", "connections", "headers", "url", "loop"} <= used
    for name in sorted(used):
        assert hasattr(uvicorns, name), is_gone("HttpToolsProtocol", name)


def test_uvicorn_calls_every_method_that_connections_override() -> None:
    """Given methods that are overridden, Then uvicorn has them: another name is never called."""
    ours = {name for name, value in vars(Connection).items() if inspect.isfunction(value)}
    overridden = {name for name in ours - OWN if not name.startswith("_")}
    assert {"on_headers_complete", "on_response_complete", "send_400_response"} <= overridden
    for name in sorted(overridden):
        assert name in vars(HttpToolsProtocol), is_gone("HttpToolsProtocol", name)
        assert list(inspect.signature(getattr(Connection, name)).parameters) == list(
            inspect.signature(getattr(HttpToolsProtocol, name)).parameters
        ), is_gone("HttpToolsProtocol", f"{name} with these parameters")


def test_uvicorn_has_what_connections_ask_of_an_answer() -> None:
    """Given an answer under way, Then it tells whether it is complete, and can end a connection."""
    source = inspect.getsource(RequestResponseCycle.__init__)
    for name in sorted(reads("self.cycle") | {"response_complete"}):
        assert f"self.{name} =" in source, is_gone("RequestResponseCycle", name)
