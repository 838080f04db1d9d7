"""Every tunable of the workers, from NIGHTGRID_* environment variables and nightgrid.toml."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from nightgrid.archive.lake.location import lacks_slashes
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.server_url import celery_url, checked_url
from nightgrid.workers.settings_sources import (
    CONFIG_VARIABLE,
    NO_CONFIG,
    check_variables,
    config_path,
    faults_of,
    read_config,
)
from nightgrid.workers.tuning import Tuning

TOTAL_SECONDS = 4 * 3600.0
TOTAL_BYTES = 32 * 1024**3
SOLUTION_BYTES = 8 * 1024**3
"""What an on-demand job may cost altogether, unless it is set."""

BAD_SETTINGS = 3
"""Exit code of a program whose settings are wrong, as that of `nightgrid`."""
BROKER_CONNECT_SECONDS = 2.0
STOP_MARGIN_SECONDS = 5.0
"""A worker that hands its work back, and the server after it, need this long to end."""
BROKER_SOCKET_SECONDS = 10.0
"""A server that does not answer within this time counts as dead."""

NO_GAMES = ","
"""A list of games that has none, as a variable: an empty one counts as unset."""


SOCKET_PATH_BYTES = 100
"""Longest path of a unix socket that every platform takes (macOS: 104, Linux: 108)."""


class Settings(BaseSettings):
    """Settings of workers, driver and embedded server. All times in seconds, sizes in bytes."""

    model_config = SettingsConfigDict(
        env_prefix="NIGHTGRID_",
        env_ignore_empty=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
    )

    lake: str = "lake"
    """The lake: a local folder (made absolute here), or s3://, gs:// or az://BUCKET/PREFIX."""
    redis_url: SecretStr | None = None
    """Server to use; unset means the embedded one. redis://, rediss:// (TLS, whose certificate is
    verified; ?ssl_ca_certs=FILE names its authority) or unix://."""
    var_dir: Path | None = None
    """Folder for the embedded server, logs and locks; default: var/<lake> beside the lake, where a
    link leads."""
    key_prefix: str = "nightgrid:"
    """Starts every key of ours in Redis; the id of the lake follows it."""
    log_format: Literal["console", "json"] | None = None
    """How lines of the log are written: `console`, for people, or `json`, one object a line. Unset:
    `console` on a terminal and `json` elsewhere."""
    trace_url: str | None = None
    """Collector of traces that speaks OTLP over HTTP, such as http://127.0.0.1:4318; unset: no
    traces. Needs the extra `trace`."""

    metrics_port: int | None = Field(default=None, ge=1, le=65535)
    """Port on which a host with workers serves the metrics of all its workers, drivers and keeper
    for Prometheus; unset: they are not kept."""
    metrics_host: str = "127.0.0.1"
    """Address of that port. Metrics want no key: beyond loopback a firewall keeps others out."""

    games: str = ",".join(GAMES)
    """Games, separated by commas, whose kernels and default words a worker loads before it begins.
    It solves the others too, and loads them when the first is asked for. `NIGHTGRID_GAMES=,`, or
    `games = ""` in the file, loads none ahead."""
    rank: bool = False
    """Whether nights rank the boards of Strands by how likely each cover was meant, and workers
    open what ranks before they begin."""
    batch_processes: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1, le=1024)
    """Children of the batch worker."""
    interactive_processes: int = Field(default=1, ge=1, le=64)
    """Children of the worker that serves on-demand solves alone."""

    budget_nodes: int = Field(default=10**12, ge=1)
    budget_table_bytes: int = Field(default=2 * 1024**3, ge=1)
    budget_seconds: float = Field(default=90.0, gt=0)
    """What one job or part may spend at most; also the longest a chunk of one row runs."""
    budget_solution_bytes: int = Field(default=SOLUTION_BYTES, ge=1)
    """Solutions that one job may list, as bytes of JSON: what has more is over budget."""
    soft_shutdown_seconds: float = Field(default=10.0, ge=0)
    """A stopping worker lets its tasks run this long before it hands them back."""
    broker_patience_seconds: float = Field(default=60.0, ge=0)
    """The driver gives up on a dead broker after this time, and so does a process that starts
    workers for one that NIGHTGRID_REDIS_URL names."""
    attempts_max: int = Field(default=4, ge=2)
    """Failed attempts at a chunk of one row after which its job is poison. A chunk of many rows is
    halved after two, and each half starts at its first attempt."""
    ondemand_seconds: float = Field(default=5.0, gt=0)
    """What a small job on demand may take; over it, it comes back divided or alone."""
    ondemand_table_bytes: int = Field(default=512 * 1024**2, ge=1)
    """Bytes of tables that an on-demand solve may take in one task; over them, it becomes a run."""
    ondemand_wait_seconds: float = Field(default=300.0, gt=0)
    """The HTTP service takes no new job that would wait longer than this for the jobs before it;
    `nightgrid submit` on a lake takes it."""
    ondemand_total_seconds: float = Field(default=TOTAL_SECONDS, gt=0)
    """Kernel time of an on-demand job over all of its parts; what takes longer is over budget."""
    ondemand_total_bytes: int = Field(default=TOTAL_BYTES, ge=1)
    """Bytes in the lake that the states of an on-demand job may take at once; more is over
    budget."""
    http_hosts: str = ""
    """Names, separated by commas, by which requests may call the HTTP service; unset: names of this
    machine alone where it listens on loopback, any name elsewhere."""
    http_keys: bool = False
    """Whether the HTTP service wants a key on loopback too, as it does where it listens elsewhere:
    behind a proxy, for instance."""
    http_connections: int = Field(default=1000, ge=16)
    """Clients that may be connected to the HTTP service at once: over that requests get 503."""
    http_body_bytes: int = Field(default=1024**2, ge=1024)
    """Largest body of a request to the HTTP service."""
    http_board_size: int = Field(default=2048, ge=1)
    """Largest board of a request: dominoes of Pips, cells of Strands, letters of Letter Boxed,
    tiles of Tiles."""
    http_expected_seconds: float = Field(default=TOTAL_SECONDS, gt=0)
    """Expected seconds of one core above which a requested board is refused before it is queued."""

    worker_logs: Literal["files", "stdout"] = "files"
    """Where the processes of `nightgrid worker` write: each into a file of its own under logs/
    beside the lake, or all to standard output, which containers expect."""
    night_report: bool = True
    """Whether a night ends with a report in the lake, whatever started it: reports/report.html."""
    runs_kept_days: float = Field(default=90.0, ge=0)
    """The files of a run that ended this many days ago are deleted; its results stay."""

    tuning: Tuning = Tuning()
    """Constants, which tests replace; no setting."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - no .env file is read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - nor a folder of secrets
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let options go before the environment, and the environment before nightgrid.toml."""
        told = read_config(config_path(), setting_fields())
        return init_settings, env_settings, InitSettingsSource(settings_cls, told)

    @field_validator("lake")
    @classmethod
    def _absolute(cls, value: str) -> str:
        # What is no URL is a path, whatever characters it has. A URL without its slashes is
        # neither, and is refused where the place is looked at.
        is_path = "://" not in value and lacks_slashes(value) is None
        return str(Path(value).expanduser().absolute()) if is_path else value

    @field_validator("games")
    @classmethod
    def _known_games(cls, value: str) -> str:
        unknown = [name for name in _names(value) if name not in GAMES]
        if unknown:
            raise ValueError(
                f"names an unknown game {unknown[0]!r}; expected some of {', '.join(GAMES)}"
            )
        return value

    @field_validator("var_dir")
    @classmethod
    def _folder(cls, value: Path | None) -> Path | None:
        if value is not None:
            path = value.expanduser().absolute()
            there = next(each for each in (path, *path.parents) if os.path.lexists(each))
            if not there.is_dir():
                raise ValueError(f"is {path}; expected a folder, and {there} is none")
        return value

    @field_validator("key_prefix")
    @classmethod
    def _not_empty(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("is empty; expected how keys begin, such as nightgrid:")
        return value

    @field_validator("redis_url", mode="before")
    @classmethod
    def _empty_is_unset(cls, value: object) -> object:
        return None if value == "" else value

    @property
    def budget(self) -> Budget:
        """What one job or part may spend."""
        return Budget(
            nodes=self.budget_nodes,
            table_bytes=self.budget_table_bytes,
            seconds=self.budget_seconds,
        )

    @property
    def batch_slice_seconds(self) -> float:
        """The longest that a slice of rows can take."""
        return self.tuning.batch_slice_rows * self.tuning.batch_row_seconds

    @property
    def hard_limit_seconds(self) -> float:
        """A task that runs longer is killed with its process."""
        longest = max(
            self.budget_seconds, self.tuning.batch_chunk_seconds + self.batch_slice_seconds
        )
        return longest + self.tuning.hard_limit_margin_seconds

    @property
    def visibility_timeout_seconds(self) -> int:
        """Redis gives a message that no worker acknowledged to another one after this time."""
        return round(self.tuning.visibility_factor * self.hard_limit_seconds)

    @property
    def stop_seconds(self) -> float:
        """How long processes that stop are waited for before they are killed."""
        return self.soft_shutdown_seconds + STOP_MARGIN_SECONDS

    @property
    def game_names(self) -> tuple[str, ...]:
        """The games that a worker loads before it begins."""
        return _names(self.games)

    @property
    def window(self) -> int:
        """Chunks in flight at most."""
        return self.tuning.window_chunks or 4 * self.batch_processes

    @property
    def side_dir(self) -> Path:
        """Folder for the embedded server, logs and locks; never part of the lake."""
        if self.var_dir is not None:
            return self.var_dir.expanduser().absolute()
        return side_folder(self.lake)

    @property
    def driver_log_path(self) -> Path:
        """Log of the process that drives a run, where people look at the terminal."""
        return self.side_dir / "logs" / "driver.log"

    @property
    def socket_path(self) -> Path:
        """Unix socket of the embedded server: in the side folder, unless its path is too long."""
        return socket_path(self.side_dir)

    @property
    def server_url(self) -> str:
        """URL of the server in use, as redis-py reads it. May hold a password: never log it."""
        if self.redis_url is None:
            return f"unix://{quote(str(self.socket_path))}?db=0"
        return checked_url(self.redis_url.get_secret_value())

    @property
    def broker_url(self) -> str:
        """The same URL as Celery reads it."""
        return celery_url(self.server_url)

    def environment(self) -> dict[str, str]:
        """Write the settings as environment variables, so that child processes share them."""
        # What is unset here stays unset there, whatever folder a child works in.
        env: dict[str, str] = {CONFIG_VARIABLE: NO_CONFIG}
        for name in setting_fields():
            value = getattr(self, name)
            if isinstance(value, SecretStr):
                value = value.get_secret_value()
            if value is not None:
                env[f"NIGHTGRID_{name.upper()}"] = str(value)
        env["NIGHTGRID_GAMES"] = self.games or NO_GAMES
        if self.tuning != Tuning():
            env["NIGHTGRID_TUNING"] = json.dumps(asdict(self.tuning))
        return env


def setting_fields() -> dict[str, FieldInfo]:
    """Return the fields that are settings, by name."""
    return {name: field for name, field in Settings.model_fields.items() if name != "tuning"}


def load_settings(**given: Any) -> Settings:
    """Read the settings; options that are not None go before all else.

    Raises PermanentError, in one sentence, for each value that is wrong: where it stands, what it
    is and what was expected; and for a variable or a key of the file that is no setting.
    """
    options = {name: value for name, value in given.items() if value is not None}
    check_variables(setting_fields())
    try:
        return Settings(**options)
    except ValidationError as error:
        errors = iter(error.errors())
        faults = faults_of(errors, setting_fields(), options, config_path())
        raise PermanentError("; ".join(faults)) from error


def program_settings() -> Settings:
    """Read the settings of a program that stands by itself: a worker, the keeper, a supervisor.

    Its log is written as they say. Ends it with one sentence and BAD_SETTINGS where one is wrong.
    """
    try:
        settings = load_settings()
    except PermanentError as error:
        sys.stderr.write(f"nightgrid: {error}\n")
        raise SystemExit(BAD_SETTINGS) from error
    # A process whose settings are wrong ends before it loads what writes its log.
    from nightgrid.workers.logs import use_format

    use_format(settings.log_format)
    return settings


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def side_folder(lake: str) -> Path:
    """Name the side folder of a lake for which no other one is set; it is never part of the lake.

    It is beside a local lake, where the folder really lies: two paths to one lake, of which one is
    a link, share a server. A lake in an object store has one in the current folder, named by its
    URL without options.
    """
    scheme, is_url, _ = lake.partition("://")
    if not is_url or scheme == "file":
        folder = Path(unquote(urlsplit(lake).path) if is_url else lake)
        real = Path(os.path.realpath(folder))
        return real.parent / "var" / real.name
    name = hashlib.sha256(lake.split("?", maxsplit=1)[0].encode()).hexdigest()[:12]
    return Path.cwd() / "var" / name


def socket_path(folder: Path) -> Path:
    """Name the unix socket of the embedded server: in a side folder, unless its path is too long.

    Else it is in a folder of its own in the system's folder for temporary files.
    """
    path = folder / "server" / "server.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"nightgrid-{os.getuid()}-{name}" / "server.sock"
