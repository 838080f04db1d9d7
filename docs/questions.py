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
from docs import findings
from docs.findings import Row

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "five-questions.md"
PICTURES = ROOT / "docs" / "pictures"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and what is made of its answer."""

    sql: str
    alt: str
    """Description of the chart, for readers who do not see it."""
    say: Callable[[Sequence[Row]], str]
    """The answer, in sentences with its figures."""
    draw: Callable[[str, Sequence[Row]], str]
    """The chart, as the text of an SVG file."""


# Quantiles of counts are taken of doubles: those of decimals are cut to whole numbers.
QUESTIONS: Mapping[str, Question] = {
    "makers": Question(
        sql="""
            select level, constructors as maker, count(*) as boards,
              count(*) filter (count = 1) as with_one, max(count) as most
            from counts join editions using (game, date, level)
            where game = 'pips' and count is not null group by all order by level, maker""",
        alt="Share of Pips boards with one solution, by level and maker",
        say=findings.say_makers,
        draw=findings.draw_makers,
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
        say=findings.say_open,
        draw=findings.draw_open,
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
        say=findings.say_covers,
        draw=findings.draw_covers,
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
        say=findings.say_places,
        draw=findings.draw_places,
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
        say=findings.say_par,
        draw=findings.draw_par,
    ),
}
"""The questions, by the name of their place in the page."""


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


if __name__ == "__main__":
    main(*sys.argv[1:])
