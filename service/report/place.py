"""Where the report of the last night lies in a lake."""

from __future__ import annotations

REPORT_PATH = "reports/report.html"
