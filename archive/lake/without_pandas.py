"""Keep pandas out of a process that works with Arrow alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence


class _NoPandas:
    """A finder that says of pandas that it is not there."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  asked like every finder
        target: object = None,  # noqa: ARG002
    ) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is kept out of this process", name=name)


def keep_pandas_out() -> None:
    """Let pyarrow find no pandas, unless this process has it already.

    Where pandas is installed, pyarrow imports it at its first conversion, to ask whether it was
    given something of pandas: a third of a second and 40 MB for each process that is ours alone.
    For the programs, not for `import nightgrid`: those who import that may want pandas.
    """
    if "pandas" not in sys.modules and not any(isinstance(f, _NoPandas) for f in sys.meta_path):
        sys.meta_path.insert(0, _NoPandas())
