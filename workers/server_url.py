"""The URL of a configured server: what it may say of TLS, and how Celery reads it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from nightgrid.solvers.errors import PermanentError

VARIABLE = "NIGHTGRID_REDIS_URL"
"""The setting that holds it, as sentences name it."""
TLS_SCHEME = "rediss"
SCHEMES = ("redis", TLS_SCHEME, "unix")
TLS_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
"""Options that name a file of PEM: authorities, our certificate, and its key."""
TLS_OPTIONS: dict[str, tuple[str, ...]] = {
    "ssl_check_hostname": ("true", "false"),
    "ssl_cert_reqs": ("required", "optional", "none"),
}
"""Options with a choice of values, which redis-py and kombu both read."""
OTHER_TLS_OPTIONS = ("ssl_ca_path", "ssl_password")
VERIFIED = "ssl_cert_reqs=required"


def checked_url(url: str) -> str:
    """Return the URL of a server, checked.

    Raises PermanentError, in one sentence without a secret, for another scheme, for what is no host
    or no port, and for what it says of TLS.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        # What Python says of it may hold a part of a password.
        raise PermanentError(
            f"{VARIABLE} has no host or port that can be read; "
            "expected redis://HOST:PORT with a port up to 65535"
        ) from error
    if parts.scheme not in SCHEMES:
        raise PermanentError(f"{VARIABLE}: expected redis://, rediss:// or unix://")
    options = {name: text for name, text in parse_qsl(parts.query) if name.startswith("ssl_")}
    if options and parts.scheme != TLS_SCHEME:
        raise PermanentError(
            f"{VARIABLE} has {min(options):.40}, which is of TLS; expected rediss:// before it"
        )
    _check_tls(options)
    return url


def _check_tls(options: Mapping[str, str]) -> None:
    known = (*TLS_FILES, *TLS_OPTIONS, *OTHER_TLS_OPTIONS)
    for name, text in options.items():
        if name not in known:
            raise PermanentError(
                f"{VARIABLE} has {name:.40}; expected some of {', '.join(sorted(known))}"
            )
        if name in TLS_OPTIONS and text not in TLS_OPTIONS[name]:
            raise PermanentError(
                f"{VARIABLE} has {name}={text:.40}; expected {' or '.join(TLS_OPTIONS[name])}"
            )
        if name in TLS_FILES and not Path(text).is_file():
            raise PermanentError(f"{VARIABLE} has {name}={text:.200}; expected a file")


def celery_url(url: str) -> str:
    """Write the URL as Celery reads it."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if parts.scheme == "unix":
        return f"redis+socket://{parts.path}?virtual_host={options.get('db', '0')}"
    if parts.scheme != TLS_SCHEME or "ssl_cert_reqs" in options:
        return url
    # redis-py verifies certificates unless it is told not to, kombu verifies none unless told to.
    return parts._replace(query=f"{parts.query}&{VERIFIED}".lstrip("&")).geturl()


def distrust(error: BaseException | None) -> str | None:
    """Return why there is no TLS with a server; None where that is not what failed."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            why = str(error.verify_message).rstrip(".")
            return (
                f"its certificate is refused ({why}); expected one for its name, of an authority "
                f"that ssl_ca_certs in {VARIABLE} names or that this machine trusts"
            )
        if isinstance(error, ssl.SSLError):
            why = (error.reason or "no reason").replace("_", " ").lower()
            return f"TLS with it fails ({why}); expected a server that speaks TLS on this port"
        error = error.__cause__ or error.__context__
    return None
