"""Ask the questions of explanation/five-questions.md, and write what it says of them.

Run from the clone's top folder: `python -m docs.questions LAKE`, over a lake of nights of Pips,
Strands and Letter Boxed. It writes each command, its answer and what the answer says into the page,
and draws docs/pictures/questions-*.svg. A chart and a sentence are made of the answer that stands
in the page and of nothing else.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nightgrid
from docs.charts import Chart

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "five-questions.md"
PICTURES = ROOT / "docs" / "pictures"
LEVELS = ("easy", "medium", "hard")
MONTHS = 6
"""Months at each end that are compared."""
QUARTERS = 4
"""Quarters at each end that are compared."""
Row = Mapping[str, str]
"""A row of an answer in CSV, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and what is made of its answer."""

    sql: str
    alt: str
    """What the chart shows, for readers who do not see it."""
    say: Callable[[Sequence[Row]], str]
    """What the answer says, in sentences with its figures."""
    draw: Callable[[str, Sequence[Row]], str]
    """The chart, as the text of an SVG file."""


def say_makers(rows: Sequence[Row]) -> str:
    """Compare the makers by their boards with one solution."""
    makers = _grouped(rows, "maker")
    shares = {maker: _share(mine) for maker, mine in makers.items()}
    best, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    one, boards = _sum(rows, "with_one"), _sum(rows, "boards")
    most = max(int(row["most"]) for row in rows)
    return (
        f"{one} of {boards} boards have one solution. It is {shares[best]:.0f} % of those that "
        f"{best} made, and {shares[least]:.0f} % of those that {least} made. The board with the "
        f"most solutions has {most:,}."
    )


def draw_makers(alt: str, rows: Sequence[Row]) -> str:
    """Draw the share of boards with one solution, by level and maker."""
    makers = sorted({row["maker"] for row in rows})
    levels = _levels(rows)
    shares = [
        [_share([r for r in rows if (r["level"], r["maker"]) == (level, m)]) for m in makers]
        for level in levels
    ]
    chart = Chart(
        alt, places=levels, across="level", up="boards with one solution (%)", span=(0, 100),
        series=makers,
    )  # fmt: skip
    chart.columns(shares)
    return chart.text()


def say_open(rows: Sequence[Row]) -> str:
    """Compare boards with no open cell and with many."""
    told = []
    for level in _levels(rows):
        mine = [row for row in rows if row["level"] == level]
        first, last = mine[0], mine[-1]
        told.append(
            f"of level {level} it is {_whole(first, 'states')} with {first['open_cells']} such "
            f"cells and {_whole(last, 'states')} with {last['open_cells']} (on "
            f"{first['dominoes']} and {last['dominoes']} dominoes in the mean)"
        )
    return f"The median of the states that boards keep differs: {', '.join(told)}."


def draw_open(alt: str, rows: Sequence[Row]) -> str:
    """Draw the median of states by open cells, a line a level."""
    places = sorted({row["open_cells"] for row in rows})
    states = [float(row["states"]) for row in rows]
    levels = _levels(rows)
    chart = Chart(
        alt, places=places, across="cells without a condition",
        up="states that the count keeps (median)", span=(min(states), max(states)), powers=True,
        series=levels,
    )  # fmt: skip
    for number, level in enumerate(levels):
        mine = {row["open_cells"]: float(row["states"]) for row in rows if row["level"] == level}
        chart.line(number, [mine.get(place) for place in places])
    return chart.text()


def say_covers(rows: Sequence[Row]) -> str:
    """Compare the first months and the last ones, and name the extremes."""
    lowest, highest = (f(rows, key=lambda row: float(row["middle"])) for f in (min, max))
    early, late = (_mean(part, "middle") for part in (rows[:MONTHS], rows[-MONTHS:]))
    return (
        f"The median board of a month has between {_power(lowest['middle'])} covers "
        f"({lowest['month']}) and {_power(highest['middle'])} ({highest['month']}). The mean of "
        f"these medians, as powers of ten, is that of {_power(early)} covers in the first "
        f"{len(rows[:MONTHS])} months and of {_power(late)} in the last {len(rows[-MONTHS:])}. The "
        f"board with the most has {_power(max(float(row['most']) for row in rows))}."
    )


def draw_covers(alt: str, rows: Sequence[Row]) -> str:
    """Draw the middle half of boards by month."""
    spans = [(float(r["low"]), float(r["middle"]), float(r["high"])) for r in rows]
    chart = Chart(
        alt, places=[row["month"] for row in rows], across="month",
        up="covers of a board (log10): median, and the middle half of boards",
        span=(0, max(high for _, _, high in spans)),
    )  # fmt: skip
    chart.ranges(spans)
    return chart.text()


def say_places(rows: Sequence[Row]) -> str:
    """Compare the places of the first quarters and of the last ones."""
    shares = [
        (100 * _sum(part, "first") / _sum(part, "boards"),
         100 * _sum(part, "beyond") / _sum(part, "boards"))
        for part in (rows[:QUARTERS], rows[-QUARTERS:])
    ]  # fmt: skip
    (early, missed), (late, missed_late) = shares
    return (
        f"In the first {len(rows[:QUARTERS])} quarters the published cover is the most probable "
        f"one on {early:.0f} % of boards and not among ten on {missed:.0f} %. In the last "
        f"{len(rows[-QUARTERS:])} quarters it is so on {late:.0f} % and {missed_late:.0f} %."
    )


def draw_places(alt: str, rows: Sequence[Row]) -> str:
    """Draw the shares of places by quarter."""
    chart = Chart(
        alt, places=[row["quarter"] for row in rows], across="quarter",
        up="boards by the place of the published cover (%)", span=(0, 100),
        series=("first", "second to tenth", "not among ten"),
    )  # fmt: skip
    chart.stacks(
        [
            [100 * int(row[name]) / int(row["boards"]) for name in ("first", "listed", "beyond")]
            for row in rows
        ]
    )
    return chart.text()


def say_par(rows: Sequence[Row]) -> str:
    """Compare the smallest and the largest par."""
    low, high = rows[0], rows[-1]
    two, boards = _sum(rows, "in_two"), _sum(rows, "boards")
    return (
        f"{two} of {boards} boards can be solved in two words, and on "
        f"{_sum(rows, 'published_in_two')} of these the published solution is of two words. The "
        f"median board of par {low['par']} has {_whole(low, 'middle')} solutions in two words, "
        f"that of par {high['par']} has {_whole(high, 'middle')}. The most that a board has are "
        f"{max(int(row['most']) for row in rows):,}."
    )


def draw_par(alt: str, rows: Sequence[Row]) -> str:
    """Draw the middle half of boards by par."""
    spans = [(float(r["low"]), float(r["middle"]), float(r["high"])) for r in rows]
    chart = Chart(
        alt, places=[row["par"] for row in rows], across="par (words)",
        up="solutions in two words: median, and the middle half of boards",
        span=(0, max(high for _, _, high in spans)),
    )  # fmt: skip
    chart.ranges(spans)
    return chart.text()


# Quantiles of counts are taken of doubles: those of decimals are cut to whole numbers.
QUESTIONS: Mapping[str, Question] = {
    "makers": Question(
        sql="""
            select level, constructors as maker, count(*) as boards,
              count(*) filter (count = 1) as with_one, max(count) as most
            from counts join editions using (game, date, level)
            where game = 'pips' and count is not null group by all order by level, maker""",
        alt="Share of Pips boards with one solution, by level and maker",
        say=say_makers,
        draw=draw_makers,
    ),
    "open": Question(
        sql="""
            select level, if(open < 3, open::text, '3 or more') as open_cells, count(*) as boards,
              round(avg(dominoes), 1) as dominoes, median(states) as states
            from (select level, dominoes, states, count(*) filter (kind = 0) as open
              from (select date, level, counts.size as dominoes, states,
                  region_type[unnest(cell_region) + 1] as kind
                from counts join puzzles_pips using (game, puzzle_id) where count is not null)
              group by date, level, dominoes, states)
            group by all order by level, open_cells""",
        alt="Median of the states of Pips boards by cells without a condition, for each level",
        say=say_open,
        draw=draw_open,
    ),
    "covers": Question(
        sql="""
            select strftime(date, '%Y-%m') as month, count(*) as boards,
              round(quantile_cont(log10(count), 0.25), 2) as low,
              round(median(log10(count)), 2) as middle,
              round(quantile_cont(log10(count), 0.75), 2) as high,
              round(max(log10(count)), 2) as most
            from counts where game = 'strands' and count > 0 group by all order by month""",
        alt="Median and quartiles of the covers of Strands boards, by month",
        say=say_covers,
        draw=draw_covers,
    ),
    "places": Question(
        sql="""
            select year(date) || ' Q' || quarter(date) as quarter, count(*) as boards,
              count(*) filter (official_rank = 1) as first,
              count(*) filter (official_rank > 1) as listed,
              count(*) filter (official_rank is null) as beyond
            from ranks where game = 'strands' and status = 'solved' and ask = 'best(10)'
            group by all order by quarter""",
        alt="Shares of Strands boards by the place of the published cover, by quarter",
        say=say_places,
        draw=draw_places,
    ),
    "par": Question(
        sql="""
            select par, count(*) as boards, count(*) filter (value = 2) as in_two,
              count(*) filter (value = 2 and official_solution_best) as published_in_two,
              quantile_cont(count::double, 0.25) filter (value = 2) as low,
              median(count::double) filter (value = 2) as middle,
              quantile_cont(count::double, 0.75) filter (value = 2) as high,
              max(count) filter (value = 2) as most
            from counts join editions using (game, date, level)
            where game = 'letterboxed' and par is not null group by all
            having count(*) filter (value = 2) > 0 order by par""",
        alt="Median and quartiles of the two-word solutions of Letter Boxed boards, by par",
        say=say_par,
        draw=draw_par,
    ),
}
"""What is asked, by the name of its place in the page."""


def command(sql: str) -> str:
    """Write the command that asks."""
    return f'nightgrid query "{" ".join(sql.split())}" --format csv'


def answer(lake: nightgrid.Lake, sql: str) -> str:
    """Answer in the form that the command has."""
    table = lake.query(sql)
    told = io.StringIO()
    writer = csv.writer(told, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return told.getvalue()


def answers_in(text: str) -> dict[str, str]:
    """Read the answers that stand in the text of the page."""
    found = {}
    for name in QUESTIONS:
        _, _, rest = text.partition(f"<!-- {name} -->\n")
        found[name] = rest.partition("```text\n")[2].partition("```\n")[0]
    return found


def write(text: str, answers: Mapping[str, str]) -> str:
    """Put commands, answers, sentences and charts into the text of the page."""
    for name, question in QUESTIONS.items():
        rows = list(csv.DictReader(io.StringIO(answers[name])))
        block = (
            f"{question.say(rows)}\n\n"
            f"![{question.alt}](../pictures/questions-{name}.svg)\n\n"
            f"```sh no-run: published archive\n{command(question.sql)}\n```\n"
            f"```text\n{answers[name]}```\n"
        )
        mark = f"<!-- {name} -->\n"
        before, found, rest = text.partition(mark)
        _, ended, after = rest.partition("<!-- end -->\n")
        if not found or not ended:
            raise SystemExit(f"the page has no place for {name}: {mark.strip()} ... <!-- end -->")
        text = f"{before}{mark}{block}<!-- end -->\n{after}"
    return text


def charts(answers: Mapping[str, str]) -> dict[str, str]:
    """Draw the charts of answers, by the names of their files."""
    return {
        f"questions-{name}.svg": question.draw(
            question.alt, list(csv.DictReader(io.StringIO(answers[name])))
        )
        for name, question in QUESTIONS.items()
    }


def main(url: str) -> None:
    """Ask, write the page and draw the charts."""
    lake = nightgrid.Lake(url)
    answers = {name: answer(lake, question.sql) for name, question in QUESTIONS.items()}
    PAGE.write_text(write(PAGE.read_text(), answers))
    for name, text in charts(answers).items():
        (PICTURES / name).write_text(text)
    print(f"{PAGE.name} and {len(answers)} charts are written")


def _grouped(rows: Sequence[Row], column: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def _levels(rows: Sequence[Row]) -> list[str]:
    """Name the levels that rows have, the easiest first."""
    return [level for level in LEVELS if any(row["level"] == level for row in rows)]


def _whole(row: Row, column: str) -> str:
    """Write a median: of an even number of boards it may end in a half."""
    return f"{float(row[column]):,.1f}".removesuffix(".0")


def _power(exponent: str | float) -> str:
    """Write a power of ten with two digits that count."""
    return f"{float(f'{10 ** float(exponent):.1e}'):,.0f}"


def _sum(rows: Sequence[Row], column: str) -> int:
    return sum(int(row[column]) for row in rows)


def _mean(rows: Sequence[Row], column: str) -> float:
    return sum(float(row[column]) for row in rows) / len(rows)


def _share(rows: Sequence[Row]) -> float:
    """Say how many percent of boards have one solution; 0 where there is no board."""
    return 100 * _sum(rows, "with_one") / (_sum(rows, "boards") or 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
