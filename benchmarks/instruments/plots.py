"""Line plots as SVG that come out the same whenever they are drawn from the same figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt

LEGEND_LINE_INCHES = 0.2
PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"


@contextmanager
def picture(name: str, rows: int, columns: int, *, width: float = 9.0) -> Iterator[Any]:
    """Draw into the axes that this yields; write docs/pictures/NAME.svg at the end."""
    style = {
        "svg.hashsalt": name,
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "legend.frameon": False,
        "legend.fontsize": 8,
    }
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            rows, columns, figsize=(width, 2.9 * rows), squeeze=False, layout="constrained"
        )
        yield axes
        PICTURES.mkdir(exist_ok=True)
        figure.savefig(
            PICTURES / f"{name}.svg", format="svg", metadata={"Date": None, "Creator": None}
        )
        plt.close(figure)


def say_curves(axis: Any, columns: int) -> None:
    """Name the curves of a plot in a line or more below the whole picture, where none runs."""
    figure = axis.figure
    handles, labels = axis.get_legend_handles_labels()
    rows = -(-len(labels) // columns)
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE_INCHES * rows)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
