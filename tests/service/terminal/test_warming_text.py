"""What is told while kernels are compiled: what it is, that it happens once, how far it is."""

from __future__ import annotations

import pytest

from nightgrid.service.terminal.progress import warming_text


@pytest.mark.parametrize(
    ("kernels", "text"),
    [
        (
            0,
            (
                "loading the kernels, or compiling them to machine code, which happens once and "
                "takes a minute or two on two cores: 1 of 3 games ready, 60 s"
            ),
        ),
        (40, "compiling kernels, once: 40 of about 200, 1 of 3 games ready, 60 s"),
        (
            100,
            "compiling kernels, once: 100 of about 200, 1 of 3 games ready, 60 s, about 60 s left",
        ),
        (210, "compiling kernels, once: 210 of about 210, 1 of 3 games ready, 60 s"),
    ],
)
def test_how_many_kernels_are_done_of_how_many_is_told(kernels: int, text: str) -> None:
    assert warming_text(kernels, 200, 1, 3, 60.0) == text
