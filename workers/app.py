"""The Celery app: `celery -A nightgrid.workers.app worker`."""

from __future__ import annotations

from typing import Any

from celery import Celery
from kombu import Exchange, Queue

from nightgrid.archive.lake.identity import keep_stores_out
from nightgrid.workers.broker.queues import NAMES
from nightgrid.workers.broker.redis_keys import BATCH, key_prefix, make_lake_id
from nightgrid.workers.settings import (
    BROKER_CONNECT_SECONDS,
    BROKER_SOCKET_SECONDS,
    Settings,
    program_settings,
)

WORK_CHUNK = "nightgrid.work_chunk"
WORKER_MODULES = tuple(f"nightgrid.workers.celery_worker.{name}" for name in ("tasks", "lifecycle"))
"""Modules that a worker loads and a sending process does not: tasks and signal handlers."""

PUBLISH_RETRY = {"max_retries": 2, "interval_start": 0.0, "interval_step": 0.2, "interval_max": 0.5}
"""A dead broker is reported after about a second; the driver decides how long to keep trying."""


def configuration(settings: Settings) -> dict[str, Any]:
    """Return the settings as a Celery configuration.

    Writes an id for the lake if it has none, since keys begin with it; raises what that raises.
    """
    make_lake_id(settings)
    transport = {
        # Longer than the longest task, or a second worker gets a task while the first still runs
        # it.
        "visibility_timeout": settings.visibility_timeout_seconds,
        # Look for messages of dead workers every 2 s instead of the default 100 s.
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
        "global_keyprefix": key_prefix(settings),
        "socket_connect_timeout": BROKER_CONNECT_SECONDS,
        "socket_timeout": BROKER_SOCKET_SECONDS,
    }
    return {
        "broker_url": settings.broker_url,
        "broker_transport_options": transport,
        "broker_connection_timeout": BROKER_CONNECT_SECONDS,
        "broker_connection_retry_on_startup": True,
        # None = retry forever: a worker outlives its server, and its supervisor restarts both.
        "broker_connection_max_retries": None,
        # Results are in the lake.
        "result_backend": None,
        "accept_content": ["json"],
        "task_serializer": "json",
        # Each queue is a plain Redis list, so that publishing directly by its name works.
        "task_queues": [
            Queue(name, exchange=Exchange(name, type="direct"), routing_key=name) for name in NAMES
        ],
        "task_create_missing_queues": False,
        "task_default_queue": BATCH,
        "task_acks_late": True,
        "task_ignore_result": True,
        "task_track_started": False,
        "task_time_limit": settings.hard_limit_seconds,
        "task_publish_retry_policy": PUBLISH_RETRY,
        "worker_prefetch_multiplier": 1,
        "worker_lost_wait": settings.tuning.worker_lost_wait_seconds,
        # SIGTERM lets tasks finish, SIGQUIT hands them back at once. The supervisor waits between
        # the two; Celery would sleep and miss tasks that finish meanwhile.
        "worker_soft_shutdown_timeout": 0.0,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # We do not use remote control; without it a worker needs no pub/sub connection.
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "timezone": "UTC",
    }


def client_app(settings: Settings) -> Celery:
    """Return an app that only sends tasks by name; it loads neither tasks nor kernels."""
    client = Celery("nightgrid-client", set_as_current=False)
    client.conf.update(configuration(settings))
    return client


def _of_worker() -> dict[str, Any]:
    """Return the configuration of a worker, whose process forks."""
    keep_stores_out()
    return configuration(program_settings())


app = Celery("nightgrid", include=WORKER_MODULES)
# Read when a worker starts: a process that only sends passes its own settings.
app.add_defaults(_of_worker)
