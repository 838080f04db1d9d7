"""Dashboard and alert rules are valid, and name existing metrics."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "infra" / "prometheus"
DASHBOARD = ROOT / "infra" / "grafana" / "nightgrid.json"
OF_PROMETHEUS = {"job", "instance", "le"}
"""Labels that Prometheus adds."""


INSTALL = "install it with `apt-get install prometheus`, or name its program in PROMTOOL"


def promtool(*arguments: str | Path) -> str:
    """Run it, and return its output; if it is missing, fail in CI and skip elsewhere."""
    found = os.environ.get("PROMTOOL") or shutil.which("promtool")
    if found is None:
        reason = f"there is no promtool to check rules with: {INSTALL}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [found, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    return json.loads(DASHBOARD.read_text())


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])
    page = (ROOT / "docs/reference/metrics.md").read_text().partition("<!-- end -->")[2]
    yield from (
        text.replace("\\|", "|") for text in re.findall(r"\| `(.+?)` \|$", page, re.MULTILINE)
    )


def metrics() -> dict[str, set[str]]:
    """Read names and labels of all metrics from their generated page."""
    page = (ROOT / "docs/reference/metrics.md").read_text()
    rows = re.findall(r"^\| `(nightgrid_\w+)` \| \w+ \| (.*?) \|", page, re.MULTILINE)
    return {name: set(re.findall(r"\w+", labels)) for name, labels in rows}


def names() -> dict[str, set[str]]:
    ends = ("", "_bucket", "_sum", "_count")
    return {f"{name}{end}": labels for name, labels in metrics().items() for end in ends}


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_every_figure_and_label_that_is_named_exists(expression: str):
    known = names()
    used = re.findall(r"(nightgrid_\w+)(?:\{(.*?)\})?", expression)
    for name, selectors in used:
        assert name in known
        told = set(re.findall(r"(\w+) ?(?:=~|!=|!~|=)", selectors))
        assert told <= known[name] | OF_PROMETHEUS
    labels = {label for name, _ in used for label in known[name]} | OF_PROMETHEUS
    for grouped in re.findall(r"\b(?:by|on) \((.*?)\)", expression):
        assert {label.strip() for label in grouped.split(",") if label.strip()} <= labels
    assert used or expression.startswith("up{")


def test_every_figure_of_workers_drivers_and_nights_is_on_the_dashboard():
    shown = " ".join(target["expr"] for panel in panels() for target in panel["targets"])
    assert [name for name in metrics() if name not in shown] == []


def test_every_alert_is_tried_and_explained():
    alerts = {rule["alert"] for rule in rules()}
    assert len(alerts) == len(rules())
    tests = yaml.safe_load((PROMETHEUS / "alerts.test.yaml").read_text())["tests"]
    tried = {case["alertname"] for test in tests for case in test.get("alert_rule_test", ())}
    assert tried == alerts
    page = (ROOT / "docs/how-to/watch-and-diagnose.md").read_text()
    assert set(re.findall(r"^\| `(Nightgrid\w+)` \|", page, re.MULTILINE)) == alerts
    assert {rule["labels"]["severity"] for rule in rules()} == {"page", "ticket"}


def test_promtool_takes_the_configuration_and_the_rules():
    told = promtool("check", "rules", PROMETHEUS / "alerts.yaml")
    assert f"{len(rules())} rules found" in told
    promtool("check", "config", PROMETHEUS / "prometheus.yaml")


def test_alerts_fire_when_they_should_and_not_on_a_sound_day():
    assert "SUCCESS" in promtool("test", "rules", PROMETHEUS / "alerts.test.yaml")


def test_promtool_reads_every_expression_of_dashboard_and_docs(tmp_path: Path):
    read = [text.replace("$job", ".*") for text in dict.fromkeys(expressions())]
    recorded = [{"record": f"r{i}", "expr": text} for i, text in enumerate(read)]
    path = tmp_path / "expressions.yaml"
    path.write_text(json.dumps({"groups": [{"name": "all", "rules": recorded}]}))
    assert f"{len(read)} rules found" in promtool("check", "rules", path)
