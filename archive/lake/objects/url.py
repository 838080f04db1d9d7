"""Clients of object stores, by the URLs of lakes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, ObjectStore, S3Store

from nightgrid.archive.lake.objects.errors import sentence
from nightgrid.solvers.errors import PermanentError

CONNECT_TIMEOUT_S = 10.0
REQUEST_TIMEOUT_S = 60.0
"""Timeout without any data from a store, including small uploads."""
UPLOAD_BYTES = 8 * 2**20
"""Larger uploads may take ..."""
LARGE_TIMEOUT_S = 3600.0
"""... this long in total; large reads too."""
MAX_RETRIES = 10
"""A throttling store answers some requests with 503, but no request for long: at one in three, one
request in 180,000 fails this often. That takes some seconds."""
RETRY_TIMEOUT_S = 20.0
"""Time after which no request is retried."""
_COMMON = frozenset({"anonymous", "endpoint_override", "scheme"})
_OPTIONS: Mapping[str, frozenset[str]] = {
    "s3": _COMMON | {"region"},
    "gs": _COMMON,
    "az": _COMMON | {"account"},
}


def connect(url: str, *, large: bool = False) -> ObjectStore:
    """Open a bucket or container, or a prefix of one; with `large`, for uploads that take long.

    Raises PermanentError for invalid options. Sends nothing.
    """
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    scheme = parts.scheme
    unknown = sorted(options.keys() - _OPTIONS[scheme])
    if unknown:
        raise PermanentError(
            f"lake {url!r} has unknown options {', '.join(unknown)}; expected some of "
            f"{', '.join(sorted(_OPTIONS[scheme]))}"
        )
    arguments: dict[str, Any] = {
        "prefix": parts.path.strip("/") or None,
        "client_options": {
            "allow_http": True,
            "connect_timeout": timedelta(seconds=CONNECT_TIMEOUT_S),
            "read_timeout": timedelta(seconds=LARGE_TIMEOUT_S if large else REQUEST_TIMEOUT_S),
            "timeout": timedelta(seconds=LARGE_TIMEOUT_S),
        },
        "retry_config": {
            "max_retries": MAX_RETRIES,
            "retry_timeout": timedelta(seconds=RETRY_TIMEOUT_S),
        },
    }
    if options.get("anonymous", "false").lower() == "true":
        arguments["skip_signature"] = True
    try:
        return _STORES[scheme](parts.netloc, _endpoint(scheme, options), options, arguments)
    except (BaseError, ValueError) as error:
        raise PermanentError(f"lake {url!r} cannot be opened: {sentence(str(error))}") from error


def _endpoint(scheme: str, options: Mapping[str, str]) -> str:
    """Return the endpoint of requests; "" for the service itself."""
    endpoint = options.get("endpoint_override", "").rstrip("/")
    if endpoint and "://" not in endpoint:
        endpoint = f"{options.get('scheme', 'https')}://{endpoint}"
    if not endpoint and "scheme" in options:
        raise PermanentError(f"the lake's option scheme needs endpoint_override in {scheme}://")
    return endpoint


def _s3(
    bucket: str, endpoint: str, options: Mapping[str, str], arguments: dict[str, Any]
) -> ObjectStore:
    provider = None
    region = options.get("region") or os.environ.get("AWS_REGION")
    region = region or os.environ.get("AWS_DEFAULT_REGION")
    if "skip_signature" not in arguments and "AWS_ACCESS_KEY_ID" not in os.environ:
        provider, usual_region = _profile()
        region = region or usual_region
    if endpoint:
        arguments["endpoint"] = endpoint
        region = region or "us-east-1"
    if region:
        arguments["region"] = region
    # A lake deletes one file at a time, which every S3-compatible store can do.
    return S3Store(bucket, disable_bulk_delete=True, credential_provider=provider, **arguments)


def _profile() -> tuple[Any, str | None]:
    """Return credentials from the AWS files, read by boto3, and their region.

    Both are None if there are no files: obstore then uses the role of the machine. Raises
    PermanentError if boto3 is missing or finds no credentials.
    """
    named = os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE")
    path = os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
    config = os.environ.get("AWS_CONFIG_FILE", "~/.aws/config")
    if not named and not any(Path(file).expanduser().exists() for file in (path, config)):
        return None, None
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError as error:
        raise PermanentError(
            "the AWS files are read by boto3, which is not installed; expected AWS_ACCESS_KEY_ID "
            "and AWS_SECRET_ACCESS_KEY in the environment, or pip install boto3"
        ) from error
    try:
        session = boto3.Session()
        return Boto3CredentialProvider(session), session.region_name
    except (BotoCoreError, ValueError) as error:
        raise PermanentError(f"AWS profile {named or 'default'}: {error}") from error


def _gs(
    bucket: str, endpoint: str, _options: Mapping[str, str], arguments: dict[str, Any]
) -> ObjectStore:
    if endpoint:
        arguments["base_url"] = endpoint
    return GCSStore(bucket, **arguments)


def _az(
    container: str, endpoint: str, options: Mapping[str, str], arguments: dict[str, Any]
) -> ObjectStore:
    if "account" in options:
        arguments["account_name"] = options["account"]
    if endpoint:
        arguments["endpoint"] = endpoint
    return AzureStore(container, **arguments)


_STORES: Mapping[str, Callable[[str, str, Mapping[str, str], dict[str, Any]], ObjectStore]] = {
    "s3": _s3,
    "gs": _gs,
    "az": _az,
}
