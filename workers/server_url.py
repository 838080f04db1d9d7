"""Validate the URL of a configured server, and convert it for Celery."""

from __future__ import annotations

import ssl
from urllib.parse import parse_qsl, urlsplit

from nightgrid.solvers.errors import PermanentError

VARIABLE = "NIGHTGRID_REDIS_URL"
"""The setting, as messages name it."""
TLS_SCHEME = "rediss"
VERIFIED = "ssl_cert_reqs=required"


def checked_url(url: str) -> str:
    """Return the URL of a server. Raises PermanentError if redis-py cannot parse it."""
    import redis

    try:
        redis.ConnectionPool.from_url(url.encode().decode()).make_connection()
    except (ValueError, TypeError, redis.RedisError) as error:
        # redis-py's message may contain part of a password.
        raise PermanentError(
            f"{VARIABLE} cannot be read; expected redis://HOST:PORT, rediss://HOST:PORT or "
            "unix://PATH, with options of redis-py"
        ) from error
    return url


def celery_url(url: str) -> str:
    """Return the URL in Celery's dialect."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if parts.scheme == "unix":
        return f"redis+socket://{parts.path}?virtual_host={options.get('db', '0')}"
    if parts.scheme != TLS_SCHEME or "ssl_cert_reqs" in options:
        return url
    # redis-py verifies certificates by default, kombu does not.
    return parts._replace(query=f"{parts.query}&{VERIFIED}".lstrip("&")).geturl()


def distrust(error: BaseException | None) -> str | None:
    """Return why TLS with a server failed; None if the error is not about TLS."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            why = str(error.verify_message).rstrip(".")
            return (
                f"its certificate is refused ({why}); expected one for its name, from an authority "
                f"that ssl_ca_certs in {VARIABLE} names or that this machine trusts"
            )
        if isinstance(error, ssl.SSLError):
            why = (error.reason or "no reason").replace("_", " ").lower()
            return f"TLS with it fails ({why}); expected a server that speaks TLS on this port"
        error = error.__cause__ or error.__context__
    return None
