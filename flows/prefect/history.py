"""Keep Prefect's history of our flow runs bounded: mark each run, delete those that are old."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from uuid import UUID

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterFlowRunId,
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterEndTime,
    FlowRunFilterTags,
)
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

TAG = "nightgrid"
FLOWS = ["nightly", "nightly-games", "count"]
"""What is deleted bears the tag and is a run of one of these: either may be others' too.
`nightly-games` was the flow of a night over several games in earlier versions."""
DELETE_RUNS = 100
"""As many at most at the beginning of a flow run: each takes the server about 20 ms."""


def keep(days: float) -> int:
    """Mark the flow run that this is called in, and delete marked ones that ended long ago.

    With them go their task runs, logs and artifacts; Prefect's events are the server's own to
    delete. Gives how many were deleted; `days` 0 deletes nothing. A server that cannot be reached
    costs the deleting, never the work; outside of a flow run there is nothing to do.
    """
    if flow_run.id is None:
        return 0
    try:
        with get_client(sync_client=True) as client:
            marks = sorted({*flow_run.tags, TAG})
            client.update_flow_run(flow_run.id, tags=marks)
            return _forget(client, days) if days else 0
    except (PrefectException, httpx.HTTPError, ValueError) as error:
        get_run_logger().warning("old flow runs could not be deleted: %s", error)
        return 0


def _forget(client: SyncPrefectClient, days: float) -> int:
    before = dt.datetime.now(dt.UTC) - dt.timedelta(days=days)
    ours = FlowRunFilter(
        tags=FlowRunFilterTags(all_=[TAG]),
        # Prefect's own type for times, to which it turns any.
        end_time=FlowRunFilterEndTime.model_validate({"before_": before}),
    )
    named = FlowFilter(name=FlowFilterName(any_=FLOWS))
    old = client.read_flow_runs(flow_filter=named, flow_run_filter=ours, limit=DELETE_RUNS)
    for run in old:
        # The server deletes a run's task runs and logs with it, its artifacts it does not.
        of_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id]))
        while shown := client.read_artifacts(artifact_filter=of_run):
            for artifact in shown:
                _gone(client.delete_artifact, artifact.id)
        _gone(client.delete_flow_run, run.id)
    return len(old)


def _gone(delete: Callable[[UUID], None], which: UUID) -> None:
    """Delete it, unless another flow run was faster."""
    try:
        delete(which)
    except ObjectNotFound:
        return
