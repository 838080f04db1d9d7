"""Where reports are written: into the lake after a night, or into a folder."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.night.page import REPORT_PATH
from nightgrid.service.report.figures import gather, keep
from nightgrid.service.report.page import write_page

PAGE = "index.html"
"""What it is called in a folder."""


def report_text(lake: Lake, since: dt.date | None = None) -> str | None:
    """Write the report of a lake as it is now; None for a lake without a published board."""
    figures = gather(lake, since)
    return None if figures is None else write_page(lake, figures)


def write_report(lake: Lake, since: dt.date | None = None) -> str | None:
    """Write the report into the lake, and return where it lies.

    It is noted for the comparison of the next night's. Nothing waits for the disk: a report that is
    lost is made again.
    """
    figures = gather(lake, since)
    if figures is None:
        return None
    page = write_page(lake, figures).encode("utf-8", "replace")
    lake.write_bytes(REPORT_PATH, page, durable=False)
    keep(lake, figures)
    return lake.location(REPORT_PATH)


def write_into(lake: Lake, folder: Path, since: dt.date | None = None) -> Path | None:
    """Write the report into a folder, which is made if need be; the lake stays as it is."""
    text = report_text(lake, since)
    if text is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    part = folder / f".{PAGE}.part"
    part.write_bytes(text.encode("utf-8", "replace"))
    part.replace(path)
    return path
