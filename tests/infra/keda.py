"""JSON schemas of the KEDA objects that infra/kubernetes uses.

They are the CustomResourceDefinitions of KEDA 2.16.1, from the package cloudcoil-models-keda
2.16.1.0 (Apache-2.0), without descriptions, `status` and the metadata of Kubernetes.
"""

from __future__ import annotations

import json
from pathlib import Path

DEFINED = json.loads((Path(__file__).parent / "keda-2.16.1.json").read_text())
