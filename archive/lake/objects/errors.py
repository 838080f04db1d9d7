"""Errors of object stores as OSErrors with a message of one sentence."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from obstore.exceptions import BaseError, GenericError

from nightgrid.solvers.errors import PermanentError

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([^<]+)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]+)</Message>")
_QUERY = re.compile(r"\?\S*")
"""The query of an address, which for Azure may be a signature."""
_NO_STORE = ("NoSuchBucket", "ContainerNotFound", "specified bucket does not exist")
_NO_IDENTITY = ("169.254.169.254", "169.254.170.2", "metadata.google.internal")
"""Where clients look for credentials if they were given none."""
_NO_CREDENTIALS = (
    "no credentials were found in the environment or the service's files, and this machine has no "
    "role there"
)
_TRY_AGAIN = frozenset({408, 409, 425, 429})
"""4xx answers after which the same request may succeed."""
TEXT_CHARS = 300

_first_pid: int | None = None


class StoreRefusedError(PermissionError):
    """An object store refuses for good: no permission, no bucket, an invalid request."""

    def __init__(self, text: str) -> None:
        """Take a sentence; the errno makes the lake's error permanent."""
        super().__init__(text)
        self.errno = errno.EACCES


class StoreFailedError(OSError):
    """An object store does not answer, or not properly: the same request may succeed later."""

    def __init__(self, text: str) -> None:
        """Take a sentence; the errno tells it apart from errors of parsing a file."""
        super().__init__(text)
        self.errno = errno.EIO


@contextmanager
def os_errors() -> Iterator[None]:
    """Convert obstore's exceptions into FileNotFoundError or an error of the store.

    Raises PermanentError in a process forked after a store was used: the threads that send requests
    do not exist there, so that a request would hang.
    """
    global _first_pid
    if _first_pid is None:
        _first_pid = os.getpid()
    elif _first_pid != os.getpid():
        raise PermanentError("an object store was used before a fork; open lakes after it")
    try:
        yield
    except FileNotFoundError as error:
        text = str(error)
        if any(mark in text for mark in _NO_STORE):
            raise StoreRefusedError(sentence(text)) from None
        raise FileNotFoundError(sentence(text)) from None
    except GenericError as error:
        text = str(error)
        if any(host in text for host in _NO_IDENTITY):
            raise StoreFailedError(_NO_CREDENTIALS) from None
        status = _STATUS.search(text)
        code = int(status[1]) if status is not None else 0
        refused = code == HTTPStatus.NOT_IMPLEMENTED or (
            300 <= code < 500 and code not in _TRY_AGAIN
        )
        # Another region's address answers with a redirect, which has no status here.
        kind = StoreRefusedError if refused or "configured region" in text else StoreFailedError
        raise kind(sentence(text)) from None
    except BaseError as error:
        raise StoreRefusedError(sentence(str(error))) from None


def sentence(text: str) -> str:
    """Extract the store's own message from obstore's, or its first line."""
    status, code, message = (part.search(text) for part in (_STATUS, _CODE, _MESSAGE))
    if message is not None:
        marks = [code[1]] if code else []
        marks += [f"HTTP {status[1]}"] if status else []
        return f"{message[1].strip().rstrip('.')} ({', '.join(marks)})"
    line = _QUERY.sub("", text.partition("\n")[0]).strip()
    return line if len(line) <= TEXT_CHARS else f"{line[:TEXT_CHARS]}…"
