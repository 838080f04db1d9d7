"""What KEDA's objects may say: a JSON schema for each kind that infra/kubernetes uses.

It is what KEDA 2.16.1 itself defines (its CustomResourceDefinitions), as the package
cloudcoil-models-keda 2.16.1.0 (Apache-2.0) has it, without descriptions, `status` and the
metadata of Kubernetes.
"""

from __future__ import annotations

import json
from pathlib import Path

DEFINED = json.loads((Path(__file__).parent / "keda-2.16.1.json").read_text())
