"""Validate the location of a lake before anything is started."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.local_commit import make_folder as make_synced
from nightgrid.solvers.canonical import is_utf8
from nightgrid.solvers.errors import PermanentError

SCHEMES = ("file", "s3", "gs", "az")
EXPECTED = "expected a folder that can be read and written, or a URL such as s3://BUCKET/PREFIX"
EXPECTED_TO_READ = "expected a folder that can be read, or a URL such as s3://BUCKET/PREFIX"


LAKE_NAMES = frozenset({"lake.json", "raw", "corpora", "keys", "leases", "runs", "results"})
"""Files and folders at the root of a lake: a folder with one of them is a lake."""


def check_location(url: str, *, writes: bool = True) -> None:
    """Raise PermanentError if a path or URL cannot be a lake.

    Creates nothing and sends nothing over a network: of a bucket only the URL is checked. A missing
    folder is fine if it can be created. With `writes` false, the lake only has to be readable.
    """
    check_url(url)
    if not is_folder(url):
        return
    try:
        trouble = _of_folder(folder_of(url), writes=writes)
    except OSError as error:
        trouble = f"cannot be accessed ({error.strerror})"
    if trouble:
        expected = EXPECTED if writes else EXPECTED_TO_READ
        raise PermanentError(f"lake {url!r:.200} {trouble}; {expected}")


def check_url(url: str) -> None:
    """Raise PermanentError unless this is a path or URL of a lake; no file is accessed."""
    if trouble := _trouble(url):
        raise PermanentError(f"lake {url!r:.200} {trouble}; {EXPECTED}")


def lacks_slashes(url: str) -> str | None:
    """Return the scheme of a URL without its slashes, such as s3:/BUCKET, else None."""
    scheme, colon, _ = url.partition(":")
    return scheme if colon and scheme in SCHEMES and "://" not in url else None


def is_folder(url: str) -> bool:
    """Return whether a path or URL names a folder, not a bucket."""
    return url.partition("://")[0] in ("file", url)


def is_missing(url: str) -> bool:
    """Return whether the folder of a lake is missing; False for a bucket, which is not checked."""
    return is_folder(url) and not folder_of(url).exists()


def name_of_others(url: str) -> str | None:
    """Return a file in a folder that is not a lake yet; None if it is empty or a lake.

    Buckets are not checked. Names that start with a dot, and the `lost+found` of a disk, are
    ignored.
    """
    try:
        names = sorted(path.name for path in folder_of(url).iterdir()) if is_folder(url) else []
    except OSError:
        return None
    if any(name in LAKE_NAMES for name in names):
        return None
    return next((name for name in names if name[0] != "." and name != "lost+found"), None)


def make_folder(url: str) -> None:
    """Create the missing folder of a lake. Raises PermanentError if that fails."""
    try:
        make_synced(folder_of(url))
    except OSError as error:
        raise PermanentError(
            f"lake {url!r:.200} cannot be made ({error.strerror}); {EXPECTED}"
        ) from error


def expanded(path: str | Path) -> Path:
    """Expand `~`. Raises PermanentError for the home of an unknown user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        problem = f"{str(path)!r:.200} is below the home of a user that does not exist"
        raise PermanentError(f"{problem}; expected a path") from error


def folder_of(url: str) -> Path:
    """Return the folder of a path or a file:// URL."""
    path = url2pathname(urlsplit(url).path) if "://" in url else url
    return expanded(path).absolute()


def _trouble(url: str) -> str:
    if not url.strip() or "\0" in url:
        return "is not a path"
    if not is_utf8(url):
        return "is not UTF-8"
    slip = lacks_slashes(url)
    if slip is not None:
        return f"lacks // after {slip}:"
    scheme = url.partition("://")[0] if "://" in url else "file"
    if scheme not in SCHEMES:
        return f"has the unknown scheme {scheme!r}"
    try:
        parts = urlsplit(url if "://" in url else "")
    except ValueError:
        return "is not a URL"
    if scheme != "file":
        if parts.password is not None or parts.username is not None:
            # The message leaves the URL out, because logs keep it.
            raise PermanentError(
                "the lake's URL carries credentials; expected them in the environment, or where "
                "the store's own tools keep them"
            )
        return "" if parts.netloc else "names no bucket"
    return "" if parts.netloc in ("", "localhost") else "names a host"


def _of_folder(folder: Path, *, writes: bool) -> str:
    there = folder
    while not there.exists() and there != there.parent:
        if there.is_symlink():
            return "is a link to nothing" if there == folder else f"lies below {there}, a dead link"
        there = there.parent
    if not there.is_dir():
        return "is a file" if there == folder else f"lies below {there}, which is a file"
    if not os.access(there, os.R_OK | os.X_OK | (os.W_OK if writes else 0)):
        whose = "" if there == folder else f" in {there}"
        what = f"cannot be read{' and written' if writes else ''}{whose}"
        return f"{what} ({_why_not(there)})"
    return ""


def _why_not(folder: Path) -> str:
    """Distinguish a read-only mount from missing permissions."""
    is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY and os.access(folder, os.R_OK | os.X_OK)
    return "it is mounted read-only here" if is_read_only else "permission denied"


def check_path(path: str) -> str:
    """Return a path if it is inside a lake. Raises PermanentError for any other."""
    names = path.split("/")
    if any(name in ("", ".", "..") for name in names) or "\\" in path or "\0" in path:
        raise PermanentError(f"{path!r} is not a path inside the lake; expected NAME/NAME/…")
    if names[0] == STAGING:
        raise PermanentError(f"{path!r} lies in the lake's staging folder")
    return path
