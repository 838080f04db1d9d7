"""Every table of the lake: explicit Arrow schemas, units in column names, never inferred.

The columns of a game's boards are in its plug, nightgrid.archive.games.<game>.plug.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

SCHEMA_VERSION = 1
"""Raised whenever a column is added, dropped or changes its meaning."""

VERSION_KEY = "nightgrid.schema_version"
"""Metadata key of every file: the schema version that it was written with."""

COUNT = pa.decimal128(38, 0)
_TYPES = {"time": pa.timestamp("us", tz="UTC"), "count": COUNT}


def fields(columns: str) -> list[pa.Field]:
    """Parse columns as "NAME TYPE, NAME TYPE, ...", in order.

    Types are named as in Arrow; `time` is in UTC, and `count` a number of up to 38 digits. TYPE? is
    nullable, and TYPE[] is a list without nulls.
    """
    found = []
    for name, text in (column.split() for column in columns.split(",")):
        item = text.rstrip("?[]")
        kind = _TYPES[item] if item in _TYPES else pa.type_for_alias(item)
        if text.endswith("[]"):
            kind = pa.list_(pa.field("item", kind, nullable=False))
        found.append(pa.field(name, kind, nullable=text.endswith("?")))
    return found


def _schema(name: str, columns: str | Iterable[pa.Field]) -> pa.Schema:
    metadata = {"nightgrid.table": name, VERSION_KEY: str(SCHEMA_VERSION)}
    return pa.schema(fields(columns) if isinstance(columns, str) else columns, metadata=metadata)


RAW = _schema(
    "raw",
    """
    sha256 string, url string, game string, date date32, sequence int32, fetched_at time,
    http_status int32?, etag string?, last_modified string?, body_bytes int64,
    fault_rule string?, fault_message string?, final_url string?
    """,
)
"""One row per normalised sighting: a body for a date that differs from the previous one, or shows
on its date that a draft was final (`sequence` runs from 1 for each date). The body is under raw/,
named by sha256. `url` was requested, and `final_url` is where redirects led, null if there were
none. `fault_*` say why a body is not a payload: an error page, a body cut at the limit."""


def puzzles_schema(game: str, columns: str) -> pa.Schema:
    """Return the schema of a game's puzzles table with the columns of its boards.

    One row a board: puzzle_id and game come first, and `size`, which grows with the board, last.
    """
    return _schema(f"puzzles.{game}", f"puzzle_id string, game string, {columns}, size int32")


DICTIONARIES = _schema("dictionaries", "dictionary_id string, words string[]")
"""The words of boards with their own lists, once per content and sorted; the id is their hash."""

EDITIONS = _schema(
    "editions",
    """
    game string, date date32, level string, revision int32, puzzle_id string, seen_at time,
    raw_sha256 string, source_id string?, backend_id string?, editor string?,
    constructors string?, clue string?, official_solution string?, draft bool?, par int32?,
    yesterday string?
    """,
)
"""Which board was published where and when: one row per revision; the highest is current.
`official_solution` is the game's solution JSON, null if the payload has none. `draft`: it was only
seen before its date (UTC), and may still change; null, from schema version 1, is no draft. `clue`
is shown to the player with the board, `par` is the number of words to solve it in. `yesterday` is
the payload's description of the previous day's edition, as JSON: it is compared with that edition
(observations) and never trusted."""

QUARANTINE = _schema(
    "quarantine",
    """
    game string, date date32?, level string?, raw_sha256 string, url string, seen_at time,
    rule string, place string, message string
    """,
)
"""One row per broken rule, with the place in the payload that breaks it."""

CORPUS_ROWS = _schema(
    "corpora",
    """
    source string, source_row int64, date date32?, level string?, puzzle_id string?,
    rule string?, place string?, message string?
    """,
)
"""The outcome of every row of a corpus: joins results back to where their puzzles came from.
`source_row` counts the puzzles of a payload, the rows of a Parquet file or the boards of a
generator from 0. A row that broke a rule has no `puzzle_id`, but the rule, the place and a
message."""


def corpus_schema(puzzles: pa.Schema) -> pa.Schema:
    """Return the schema of a corpus from its game's puzzles: each row with its board, if any."""
    board = [one.with_nullable(True) for one in puzzles if one.name != "puzzle_id"]
    return _schema("corpora", [*CORPUS_ROWS, *board])


MANIFEST_HEAD = fields("job_no int64, job_id string, ask string, part string, part_path string")
"""First columns of a run's manifest, followed by the columns of the game's puzzles table. One row
per job or part of a job; `part` is the part's JSON ("" for a whole job) and `part_path` its
place among its siblings ("" for a whole job, "3" or "3.1" for parts), which orders a merge."""


def manifest_schema(puzzles: pa.Schema) -> pa.Schema:
    """Return the manifest schema of a game from the schema of its puzzles table.

    If the clue is part of the question (`meant`), the puzzles have the column CLUE too.
    """
    return _schema("manifest", [*MANIFEST_HEAD, *puzzles])


CLUE = pa.field("clue", pa.string(), nullable=False)
"""The text shown to players with a board; "" for none."""


UNASKED = ("puzzle_id", "game", "ask")
"""Columns of a manifest that are irrelevant to solving."""

RESULTS = _schema(
    "results",
    """
    job_id string, puzzle_id string, game string, ask string, rules string, lexicon_id string,
    solver_version string, status string, count count?, value int64?, reason_code string?,
    reason string, states int64, nodes int64, parts int32, kernel_ns int64, table_bytes int64,
    puzzle string?, run_id string, budget_nodes int64?, budget_table_bytes int64?,
    budget_seconds double?, total_seconds double?, total_bytes int64?,
    budget_solution_bytes int64?
    """,
)
"""One row per job. `value` is the value of the best solution, the fewest words, letters or moves;
null in games that compare nothing. `reason_code` is a nightgrid.solvers.reasons.ReasonCode, null if
the job ended as asked, and `reason` is the same as a sentence. `puzzle` is the board of a job on
demand as canonical JSON, without its own words; null for other jobs, whose boards other tables
have. Everything but kernel_ns, puzzle and run_id is the same on every machine and at any time, as
long as no budget of seconds ran out and the job was divided alike. The division depends on costs
recorded in the lake, and with it states, nodes, parts and table_bytes. If a budget of seconds ran
out, it depends on time too, and so does whether status, count, value and reasons say over_budget;
an existing count or a proof of unsolvability never does."""
BUDGET_COLUMNS = RESULTS.names[RESULTS.names.index("run_id") + 1 :]
"""What each part of a job could spend, and in total if there was such a limit; the last applies
only to `all`, bytes of all its solutions. All are null if an earlier version wrote the row."""

PARTS = _schema(
    "parts",
    """
    job_no int64, job_id string, part_path string, status string, count count?, value int64?,
    value_at_least int64?, value_at_most int64?, solutions string?, truncated bool,
    reason_code string?, reason string, children string?, states int64, nodes int64,
    kernel_ns int64, table_bytes int64
    """,
)
"""The output of one chunk: one row per manifest row of the chunk, in manifest order. `solutions` is
a JSON list for first, best and all, null for count. `value_at_least` and `value_at_most` are the
bounds that an over_budget part has proven. A part that came back split has status "split" and its
children, a JSON list of parts, in `children`; their rows are in a later segment. A part of a staged
count that continues in the next stage has status "carried", and in `children` the number of states
that it left."""


def frontier_schema(row_words: int) -> pa.Schema:
    """Return the schema of spilled states: words of 8 bytes, little-endian.

    They are the words of a state's key, then the halves of its count, the high one first.
    """
    return _schema("frontier", [pa.field("state", pa.binary(8 * row_words), nullable=False)])


SOLUTIONS = _schema(
    "solutions",
    """
    job_id string, puzzle_id string, game string, ask string, rank int64, solution string,
    run_id string
    """,
)
"""Requested solutions, in canonical order, those of `best` by falling score and those of `meant`
from the likeliest down: rank 0 is the first. `solution` is JSON; for `meant` it is a cover with its
confidence and the signals and terms for and against it."""

COUNTS_BY_DATE = _schema(
    "gold.counts_by_date",
    """
    game string, date date32, level string, revision int32, puzzle_id string, size int32,
    status string, count count?, value int64?, states int64, kernel_ns int64,
    official_solution_valid bool?, official_solution_best bool?
    """,
)
"""For people: how many solutions each published puzzle has (current revisions, no drafts), and in
games that ask for the fewest of something the minimum and whether the official solution attains
it."""


RANKS = _schema(
    "gold.ranks",
    """
    game string, date date32, level string, revision int32, puzzle_id string, ask string,
    status string, best_count int64?, official_rank int64?
    """,
)
"""For people: the rank of the official solution among the best ones; 1 is the best one, null if it
is not among them. `best_count` is how many of them there are, at most the k of the ask. Current
revisions with an official solution, no drafts."""

RUNTIMES = _schema(
    "gold.runtimes",
    """
    game string, ask string?, level string, job_count int64, solved_count int64,
    kernel_ns_p50 int64, kernel_ns_p99 int64, kernel_ns_max int64, kernel_ns_total int64,
    states_total int64
    """,
)
"""For people: the cost of the kernels, per game, ask and level."""

RANK_ACCURACY = _schema(
    "gold.rank_accuracy",
    """
    game string, date date32, level string, revision int32, puzzle_id string, job_id string,
    ranker string, status string, official_place int64?, cover_count int64, confidence double?,
    official_confidence double?, seconds double, miss string?
    """,
)
"""For people: the place of the official solution among the covers that the job of `meant` with the
largest k lists. Current revisions with an official solution, no drafts, one row per ranker.
`confidence` is that of the first cover; `miss` is the code of the class in which the first cover
differs."""
