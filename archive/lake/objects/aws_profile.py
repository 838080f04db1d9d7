"""Credentials out of the AWS files: obstore reads the environment and roles by itself."""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from obstore.store import S3Credential

KEPT = timedelta(minutes=15)
"""How long keys count: then the files are read again, which may have changed."""
_SIGN_IN = ("role_arn", "sso_session", "sso_start_url", "credential_process", "source_profile")
"""What a profile has whose keys are not in the files, but are asked for elsewhere."""


@dataclass(frozen=True, slots=True)
class KeysInFile:
    """Gives the keys of a profile as they stand in the files."""

    profile: str
    environment: Mapping[str, str]

    def __call__(self) -> S3Credential:
        """Read the files. Raises PermanentError when the keys are gone."""
        found = _read(self.environment, self.profile)
        if "aws_access_key_id" not in found or "aws_secret_access_key" not in found:
            raise PermanentError(
                f"AWS profile {self.profile} lacks aws_access_key_id or aws_secret_access_key"
            )
        return {
            "access_key_id": found["aws_access_key_id"],
            "secret_access_key": found["aws_secret_access_key"],
            "token": found.get("aws_session_token"),
            "expires_at": datetime.now(UTC) + KEPT,
        }


def find_identity(environment: Mapping[str, str]) -> tuple[Any, str | None]:
    """Find what gives credentials (None: obstore itself) and the region that is set.

    Keys in the environment come first, then the profile (AWS_PROFILE or default) in the AWS
    files. One that signs in elsewhere needs boto3. Without a profile obstore asks for a role.

    Raises PermanentError when AWS_PROFILE names none, or boto3 is missing or finds none.
    """
    wanted = environment.get("AWS_PROFILE") or environment.get("AWS_DEFAULT_PROFILE")
    profile = wanted or "default"
    found = _read(environment, profile)
    named = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    region = named or found.get("region")
    if environment.get("AWS_ACCESS_KEY_ID"):
        return None, region
    if "aws_access_key_id" in found and "role_arn" not in found:
        return KeysInFile(profile, environment), region
    if any(key in found for key in _SIGN_IN):
        return _boto3(profile), region
    if wanted and not found:
        raise PermanentError(f"AWS_PROFILE is {wanted!r}, which the AWS files do not have")
    return None, region


def _read(environment: Mapping[str, str], profile: str) -> dict[str, str]:
    """Read a profile from both files; the file of credentials comes first."""
    folder = Path(environment.get("HOME") or Path.home()) / ".aws"
    found: dict[str, str] = {}
    for variable, name, section in (
        ("AWS_CONFIG_FILE", "config", profile if profile == "default" else f"profile {profile}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", profile),
    ):
        path = Path(environment.get(variable) or folder / name).expanduser()
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            raise PermanentError(
                f"{path}{_place(error)} cannot be read as an AWS file; expected [PROFILE] and "
                "NAME = VALUE"
            ) from error
        if parser.has_section(section):
            found |= parser[section]
    return found


def _place(error: configparser.Error | UnicodeDecodeError) -> str:
    """Say where a file is wrong, and nothing of what stands there, which may be a key."""
    if isinstance(error, UnicodeDecodeError):
        return f", byte {error.start},"
    lines = [number for number, _ in getattr(error, "errors", ())]
    lines.append(getattr(error, "lineno", None))
    return next((f", line {number}," for number in lines if number), "")


def _boto3(profile: str) -> Any:
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError as error:
        raise PermanentError(
            f"AWS profile {profile} signs in elsewhere, which boto3 does and is not installed; "
            "expected aws_access_key_id and aws_secret_access_key in it, or boto3"
        ) from error
    try:
        return Boto3CredentialProvider(boto3.Session(profile_name=profile))
    except (BotoCoreError, ValueError) as error:
        raise PermanentError(f"AWS profile {profile} gives no credentials: {error}") from error
