"""Answer the questions of explanation/five-questions.md over the published archive, and plot them.

Run from the clone's top folder: `python docs/questions.py LAKE`, over a lake of nights of Pips and
Letter Boxed. It writes the answers into the page and draws docs/pictures/questions-*.svg.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nightgrid

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "five-questions.md"
QUESTIONS: Mapping[str, str] = {
    "solutions": """
        select level, count(*) as boards, count(*) filter (count = 1) as with_one,
          median(count)::bigint as middle, max(count) as most
        from counts where game = 'pips' group by all order by most""",
    "size": """
        select round(corr(size, log2(states)), 2) as size_and_states,
          round(corr(size, log2(count)), 2) as size_and_solutions
        from counts where game = 'pips'""",
    "makers": """
        select constructors, count(*) as boards,
          round(100 * avg((count = 1)::int)) as percent_with_one, max(count) as most
        from counts join editions using (game, date, level)
        where game = 'pips' and level = 'hard' group by all order by boards desc""",
    "weekdays": """
        select dayname(date) as day, count(*) as boards, round(avg(log2(states)), 1) as log2_states
        from counts where game = 'pips' and level = 'hard'
        group by day, isodow(date) order by isodow(date)""",
    "letters": """
        select value as words, count(*) as boards, median(count)::bigint as middle,
          max(count) as most, count(*) filter (official_solution_best) as published_is_fewest
        from counts where game = 'letterboxed' group by all order by words""",
}
"""What is asked, by the name of its place in the page."""
POINTS = "select level, size, states, count from counts where game = 'pips'"
"""What the plots show."""


def command(sql: str) -> str:
    """Write the command that asks."""
    return f'nightgrid query "{" ".join(sql.split())}" --format csv'


def answer(lake: nightgrid.Lake, sql: str) -> str:
    """Answer in the form that the command has."""
    table = lake.query(sql)
    rows = [table.column_names, *zip(*(c.to_pylist() for c in table.columns), strict=True)]
    return "\n".join(",".join("" if x is None else str(x) for x in row) for row in rows)


def write(lake: nightgrid.Lake, text: str) -> str:
    """Put commands and answers into the text of the page."""
    for name, sql in QUESTIONS.items():
        block = f"```sh no-run: published archive\n{command(sql)}\n```\n"
        block += f"```text\n{answer(lake, sql)}\n```\n"
        mark = f"<!-- {name} -->\n"
        part = re.compile(f"{mark}.*?<!-- end -->\n", re.DOTALL)
        text = part.sub(f"{mark}{block}<!-- end -->\n", text)
    return text


def plot(rows: list[dict[str, Any]]) -> None:
    """Draw how many solutions boards have, and what their size has to do with their states."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.instruments.plots import picture

    levels = [
        level for level in ("easy", "medium", "hard") if any(r["level"] == level for r in rows)
    ]
    with picture("questions", 1, 2) as axes:
        bins = range(1 + max(int(math.log2(row["count"])) for row in rows if row["count"]))
        for shift, level in enumerate(levels):
            logs = [int(math.log2(r["count"])) for r in rows if r["level"] == level and r["count"]]
            places = [i + (shift - 1) * 0.28 for i in bins]
            axes[0][0].bar(places, [logs.count(i) for i in bins], 0.26, label=level)
            mine = [row for row in rows if row["level"] == level]
            axes[0][1].scatter(
                [row["size"] for row in mine], [row["states"] for row in mine], s=9, label=level
            )
        axes[0][0].set_xlabel("solutions of a board, log2")
        axes[0][0].set_ylabel("boards")
        axes[0][1].set_yscale("log")
        axes[0][1].set_xlabel("dominoes")
        axes[0][1].set_ylabel("states")
        # Above the axes: beside the bars it would cover some.
        axes[0][0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def main(url: str) -> None:
    """Write the page and draw the plots."""
    lake = nightgrid.Lake(url)
    PAGE.write_text(write(lake, PAGE.read_text()))
    plot(lake.query(POINTS).to_pylist())
    print(f"{PAGE.name} and docs/pictures/questions.svg are written")


if __name__ == "__main__":
    main(*sys.argv[1:])
