"""Samples as Prometheus has them: grouped by figure, each with its type and its sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from nightgrid.workers.figures import Figure, Sample

Samples = dict[Sample, float]


def families(figures: Sequence[Figure], samples: Mapping[Sample, float]) -> Iterator[Metric]:
    """Give the samples of some figures; a figure without any has its head alone."""
    by_name: dict[str, list[tuple[tuple[str, ...], float]]] = {}
    for (name, labels), value in samples.items():
        by_name.setdefault(name, []).append((labels, value))
    for figure in figures:
        kind = CounterMetricFamily if figure.kind == "counter" else GaugeMetricFamily
        family = kind(figure.name, figure.about, labels=figure.labels)
        for labels, value in sorted(by_name.get(figure.name, ())):
            family.add_metric(labels, float(value))
        yield family
