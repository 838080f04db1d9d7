"""What KEDA's objects may say: two JSON schemas for each kind that infra/kubernetes uses.

`DEFINED` is what KEDA 2.16.1 itself defines (its CustomResourceDefinitions), as the package
cloudcoil-models-keda 2.16.1.0 (Apache-2.0) has it, without descriptions, `status` and the
metadata of Kubernetes. It takes any text for the metadata of a trigger. `SCHEMAS` says what those
are for the triggers used here, by KEDA's reference, and refuses every field that is not used.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DEFINED = json.loads((Path(__file__).parent / "keda-2.16.1.json").read_text())

NAME = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
WHOLE = {"type": "integer", "minimum": 0}


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """Write the schema of an object with these fields and no other."""
    return {
        "type": "object",
        "required": sorted(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


NUMBER = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"}
METRICS_API = record(
    {
        "url": {"type": "string", "pattern": "^http://[a-z0-9.-]+:[0-9]+/"},
        "valueLocation": {"type": "string", "minLength": 1},
        "targetValue": NUMBER,
    },
    {
        "format": {"enum": ["json", "xml", "yaml", "prometheus"]},
        "activationTargetValue": NUMBER,
        "authMode": {"enum": ["apiKey", "basic", "tls", "bearer"]},
        "unsafeSsl": {"enum": ["true", "false"]},
    },
)
TRIGGER = record(
    {"type": {"const": "metrics-api"}, "metadata": METRICS_API},
    {
        "name": NAME,
        "metricType": {"enum": ["AverageValue", "Value"]},
        "authenticationRef": record({"name": NAME}),
    },
)
METADATA = record({"name": NAME}, {"namespace": NAME, "labels": {"type": "object"}})


def kind(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Write the schema of one kind of KEDA's objects."""
    return record(
        {
            "apiVersion": {"const": "keda.sh/v1alpha1"},
            "kind": {"const": name},
            "metadata": METADATA,
            "spec": spec,
        }
    )


SCHEMAS = {
    "ScaledObject": kind(
        "ScaledObject",
        record(
            {
                "scaleTargetRef": record({"name": NAME}, {"kind": NAME, "apiVersion": NAME}),
                "triggers": {"type": "array", "minItems": 1, "items": TRIGGER},
            },
            {
                "pollingInterval": WHOLE,
                "cooldownPeriod": WHOLE,
                "minReplicaCount": WHOLE,
                "maxReplicaCount": {"type": "integer", "minimum": 1},
                "advanced": record(
                    {
                        "horizontalPodAutoscalerConfig": record(
                            {"behavior": {"type": "object"}},
                        )
                    }
                ),
            },
        ),
    ),
    "TriggerAuthentication": kind(
        "TriggerAuthentication",
        record(
            {
                "secretTargetRef": {
                    "type": "array",
                    "minItems": 1,
                    "items": record(
                        {"parameter": {"enum": ["token", "apiKey"]}, "name": NAME, "key": NAME}
                    ),
                }
            }
        ),
    ),
}
