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

from nightgrid.archive.lake.location import expanded, lacks_slashes
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
"""Default limit of what an on-demand job may cost in total."""

BAD_SETTINGS = 3
"""Exit code of a program with invalid settings, the same as that of `nightgrid`."""
BROKER_CONNECT_SECONDS = 2.0
STOP_MARGIN_SECONDS = 5.0
"""Time that a worker that hands its work back, and then the server, need to stop."""
BROKER_SOCKET_SECONDS = 10.0
"""A server that does not answer within this time is considered dead."""

NO_GAMES = ","
"""An empty list of games as a variable; an empty variable counts as unset."""


SOCKET_PATH_BYTES = 100
"""Longest path of a unix socket that every platform accepts (macOS: 104, Linux: 108)."""


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
    """Folder for the embedded server, logs and locks; default: var/<lake> next to the lake, after
    resolving links."""
    key_prefix: str = "nightgrid:"
    """Prefix of all our keys in Redis, followed by the id of the lake."""
    log_format: Literal["console", "json"] | None = None
    """Format of log lines: `console`, for people, or `json`, one object a line. Unset: `console` on
    a terminal and `json` elsewhere."""
    trace_url: str | None = None
    """OTLP collector over HTTP that receives traces, such as http://127.0.0.1:4318; unset: no
    traces. Needs the extra `trace`."""

    metrics_port: int | None = Field(default=None, ge=1, le=65535)
    """Port on which a host with workers serves the metrics of all its workers, drivers and keeper
    for Prometheus; unset: no metrics are kept."""
    metrics_host: str = "127.0.0.1"
    """Address of that port. Metrics need no key: beyond loopback, put it behind a firewall."""

    games: str = ",".join(GAMES)
    """Games, separated by commas, whose kernels and default words a worker loads at startup. It
    solves the others too and loads them on first use. `NIGHTGRID_GAMES=,`, or `games = ""` in the
    file, preloads none."""
    rank: bool = False
    """Whether nights rank the Strands boards by how likely each cover was meant, in which case
    workers load the ranker at startup."""
    batch_processes: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1, le=1024)
    """Child processes of the batch worker."""
    interactive_processes: int = Field(default=1, ge=1, le=64)
    """Child processes of the worker that serves only on-demand solves."""

    budget_nodes: int = Field(default=10**12, ge=1)
    budget_table_bytes: int = Field(default=2 * 1024**3, ge=1)
    budget_seconds: float = Field(default=90.0, gt=0)
    """Most that one job or part may spend; also the longest that a chunk of one row runs."""
    budget_solution_bytes: int = Field(default=SOLUTION_BYTES, ge=1)
    """Solutions that one job may list, in bytes of JSON; a job with more is over budget."""
    soft_shutdown_seconds: float = Field(default=10.0, ge=0)
    """How long a stopping worker lets its tasks run before it hands them back."""
    broker_patience_seconds: float = Field(default=60.0, ge=0)
    """How long the driver retries a dead broker before it gives up; the same for a process that
    starts workers for the server of NIGHTGRID_REDIS_URL."""
    attempts_max: int = Field(default=4, ge=2)
    """Failed attempts at a chunk of one row after which its job is poison. A chunk of many rows is
    halved after two failures, and each half starts counting from zero."""
    ondemand_seconds: float = Field(default=5.0, gt=0)
    """Time limit of a small on-demand job; over it, the job is divided or gets its own task."""
    ondemand_table_bytes: int = Field(default=512 * 1024**2, ge=1)
    """Bytes of tables that an on-demand solve may use in one task; over them, it becomes a run."""
    ondemand_wait_seconds: float = Field(default=300.0, gt=0)
    """The HTTP service refuses a new job that would wait longer than this for the jobs before it;
    `nightgrid submit` on a lake accepts it."""
    ondemand_total_seconds: float = Field(default=TOTAL_SECONDS, gt=0)
    """Kernel time of an on-demand job over all its parts; over it, the job is over budget."""
    ondemand_total_bytes: int = Field(default=TOTAL_BYTES, ge=1)
    """Bytes in the lake that the states of an on-demand job may occupy at once; a job that needs
    more is over budget."""
    http_hosts: str = ""
    """Host names, separated by commas, under which the HTTP service accepts requests; unset: only
    names of this machine when it listens on loopback, any name otherwise."""
    http_keys: bool = False
    """Whether the HTTP service requires a key on loopback too, for instance behind a proxy. On
    other addresses it always does."""
    http_connections: int = Field(default=1000, ge=16)
    """Concurrent connections to the HTTP service; further requests get 503."""
    http_body_bytes: int = Field(default=1024**2, ge=1024)
    """Largest body of a request to the HTTP service."""
    http_board_size: int = Field(default=2048, ge=1)
    """Largest board of a request: dominoes of Pips, cells of Strands, letters of Letter Boxed,
    tiles of Tiles."""
    http_expected_seconds: float = Field(default=TOTAL_SECONDS, gt=0)
    """Expected seconds of one core above which a requested board is refused before it is queued."""

    worker_logs: Literal["files", "stdout"] = "files"
    """Where the processes of `nightgrid worker` log: each to its own file under logs/ next to the
    lake, or all to standard output, as containers expect."""
    night_report: bool = True
    """Whether a night, however started, ends with a report in the lake: reports/report.html."""
    runs_kept_days: float = Field(default=90.0, ge=0)
    """Days after which the files of an ended run are deleted; its results stay."""

    tuning: Tuning = Tuning()
    """Constants that tests replace; not a setting."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - no .env file is read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - nor a folder of secrets
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Rank options above the environment, and the environment above nightgrid.toml."""
        told = read_config(config_path(), setting_fields())
        return init_settings, env_settings, InitSettingsSource(settings_cls, told)

    @field_validator("lake")
    @classmethod
    def _absolute(cls, value: str) -> str:
        # Anything that is not a URL is a path, whatever characters it has. A URL without its
        # slashes is neither; it is refused when the lake is opened.
        is_path = "://" not in value and lacks_slashes(value) is None
        return str(expanded(value).absolute()) if is_path else value

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
            path = expanded(value).absolute()
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
        """Most that one job or part may spend."""
        return Budget(
            nodes=self.budget_nodes,
            table_bytes=self.budget_table_bytes,
            seconds=self.budget_seconds,
        )

    @property
    def batch_slice_seconds(self) -> float:
        """Longest time that a slice of rows can take."""
        return self.tuning.batch_slice_rows * self.tuning.batch_row_seconds

    @property
    def hard_limit_seconds(self) -> float:
        """Time after which a task is killed with its process."""
        longest = max(
            self.budget_seconds, self.tuning.batch_chunk_seconds + self.batch_slice_seconds
        )
        return longest + self.tuning.hard_limit_margin_seconds

    @property
    def visibility_timeout_seconds(self) -> int:
        """Time after which Redis redelivers a message that no worker has acknowledged."""
        return round(self.tuning.visibility_factor * self.hard_limit_seconds)

    @property
    def stop_seconds(self) -> float:
        """How long to wait for stopping processes before they are killed."""
        return self.soft_shutdown_seconds + STOP_MARGIN_SECONDS

    @property
    def game_names(self) -> tuple[str, ...]:
        """Games that a worker loads at startup."""
        return _names(self.games)

    @property
    def window(self) -> int:
        """Most chunks in flight."""
        return self.tuning.window_chunks or 4 * self.batch_processes

    @property
    def side_dir(self) -> Path:
        """Folder for the embedded server, logs and locks; never part of the lake."""
        if self.var_dir is not None:
            return expanded(self.var_dir).absolute()
        return side_folder(self.lake)

    @property
    def driver_log_path(self) -> Path:
        """Log of the process that drives a run, for when the terminal shows progress."""
        return self.side_dir / "logs" / "driver.log"

    @property
    def socket_path(self) -> Path:
        """Unix socket of the embedded server; in the side folder unless its path is too long."""
        return socket_path(self.side_dir)

    @property
    def server_url(self) -> str:
        """URL of the server in use, for redis-py. It may contain a password: never log it."""
        if self.redis_url is None:
            return f"unix://{quote(str(self.socket_path))}?db=0"
        return checked_url(self.redis_url.get_secret_value())

    @property
    def broker_url(self) -> str:
        """The same URL for Celery."""
        return celery_url(self.server_url)

    def environment(self) -> dict[str, str]:
        """Return the settings as environment variables, so that child processes share them."""
        # What is unset here stays unset there, whatever the child's working folder.
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
    """Load the settings; options that are not None override everything else.

    Raises PermanentError with one sentence for each invalid value (where it is set, what it is and
    what was expected), and for an unknown variable or key of the file.
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
    """Load the settings of a standalone program: a worker, the keeper, a supervisor.

    Configures its log too. Exits with one sentence and BAD_SETTINGS if a setting is invalid.
    """
    try:
        settings = load_settings()
    except PermanentError as error:
        sys.stderr.write(f"nightgrid: {error}\n")
        raise SystemExit(BAD_SETTINGS) from error
    # Exit on invalid settings before loading what configures the log.
    from nightgrid.workers.logs import use_format

    use_format(settings.log_format)
    return settings


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def side_folder(lake: str) -> Path:
    """Return the default side folder of a lake; it is never part of the lake.

    For a local lake it is next to the folder after resolving links, so that two paths to one lake
    share a server. For an object store it is in the current folder, named after the URL without
    options.
    """
    scheme, is_url, _ = lake.partition("://")
    if not is_url or scheme == "file":
        folder = Path(unquote(urlsplit(lake).path) if is_url else lake)
        real = Path(os.path.realpath(folder))
        return real.parent / "var" / real.name
    name = hashlib.sha256(lake.split("?", maxsplit=1)[0].encode()).hexdigest()[:12]
    return Path.cwd() / "var" / name


def socket_path(folder: Path) -> Path:
    """Return the unix socket of the embedded server; in the side folder unless its path is too
    long.

    In that case it is in its own folder under the system's temporary folder.
    """
    path = folder / "server" / "server.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"nightgrid-{os.getuid()}-{name}" / "server.sock"
