"""What containers of several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.infra.contained import USER, let_in
from tests.infra.kernel_cache import copy_kernels


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the kernels of this machine's processor, as `nightgrid warmup` leaves it."""
    folder = tmp_path_factory.mktemp("cache")
    copy_kernels(folder)
    let_in(folder)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, USER, USER) if os.getuid() == 0 else None
    return folder
