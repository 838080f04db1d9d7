"""Measure the numbers that must not get worse, in one go, for this checkout and another one.

    python -m benchmarks.guards [--against CLONE] [--only ROW ...] [--full] [--json FILE] [--write]

Every row is measured by a process of its own that has the checkout as its working folder and as its
PYTHONPATH; with `--against`, each row is measured for both before the next one begins. What is
measured is the command line, the HTTP interface and the solvers, so that the same script measures
code before and after a change of what lies between. Published payloads are read from the folder
that NIGHTGRID_ARCHIVE names; rows that need them fail without it. Takes up to 15 minutes for two
checkouts on two cores; `--full` takes whole archives and 10^6 boards instead of samples.

Exits with 1 if a row does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import hashlib
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if sys.path[0] == str(ROOT / "benchmarks"):
    # Run as a script: folders of this one are no modules at the top.
    sys.path.pop(0)
# The programs next to this one are those of its own checkout, whichever code is measured.
sys.path.insert(0, str(ROOT))
import benchmarks  # noqa: E402

sys.path.remove(str(ROOT))
benchmarks.__path__ = [str(ROOT / "benchmarks")]

from benchmarks.instruments.report import Section, add_write, finish  # noqa: E402

Result = dict[str, Any]
PROCESSES = 2
ROW_S = 1200.0
"""Time limit of one row of one checkout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One of the numbers."""

    what: str
    keep: str
    """The limit, as people read it."""
    probe: Callable[[bool], Result]
    """Measures it in this process; told whether to take everything instead of a sample."""
    shown: Callable[[Result], str]
    holds: Callable[[Result, Result | None], bool]
    """Told what was measured, and what the other checkout has, if there is one."""


# -- exactness ----------------------------------------------------------------------------------

BRUTE_EVERY = 8
"""One published easy board in so many is also enumerated by trying everything."""
STRANDS_EVERY = 6
"""One published board in so many is counted with the default lexicon, unless all are."""


def pips_counts(full: bool) -> Result:
    """Count every published board; compare with what two other solvers published, and brute force.

    Counts that are not published are compared between checkouts, by its digest.
    """
    from tests.oracles.brute_force import enumerate_solutions

    files = published("pips")
    counts = {
        (row["date"], row["level"]): row["count"]
        for row in nightgrid("solve", "--count", "--json", *map(str, files))
    }
    wanted = dict(_published_counts())
    for path in files[:: 1 if full else BRUTE_EVERY]:
        board = json.loads(path.read_text())["easy"]
        wanted[path.stem, "easy", "brute force"] = len(enumerate_solutions(board))
    wrong = sorted(key for key, count in wanted.items() if counts.get(key[:2]) != count)
    return {
        "boards": len(counts),
        "compared": len(wanted),
        "wrong": wrong,
        "digest": _digest(counts.items()),
    }


def _published_counts() -> Iterator[tuple[tuple[str, ...], int]]:
    folder = archive("pips-published-counts")
    with (folder / "brianberns_hard_counts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["readme"] and (archive("pips") / f"{row['date']}.json").exists():
                yield (row["date"], "hard", "article"), int(row["readme"])
    with (folder / "prb_solution_counts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if (archive("pips") / f"{row['date']}.json").exists():
                yield (row["date"], row["difficulty"], "second solver"), int(row["count"])


STRANDS_COUNTS = {
    "list": "655dc706cfdee06a",
    "lexicon, sample": "5983e5edd465144f",
    "lexicon": "d17d568749c9857f",
}
"""Digests of the counts of the 668 published boards, at commit 6bade0b0: 872 boards of that code
were compared with another program in both settings, none differed."""


def strands_counts(full: bool) -> Result:
    """Count published boards in two settings: words of a list, and the default lexicon."""
    files = published("strands")
    enable = archive("").parent / "words" / "enable1.txt"
    listed = ("--lexicon", str(enable), "--rule", "words=any", "--rule", "spangram=off")
    sampled = files[:: 1 if full else STRANDS_EVERY]
    found = {}
    for name, chosen, options in (
        ("list", files, listed),
        ("lexicon" if full else "lexicon, sample", sampled, ()),
    ):
        rows = nightgrid("solve", "--count", "--json", *options, *map(str, chosen))
        counts = [(row["date"], row["count"]) for row in rows]
        found[name] = {"boards": len(counts), "digest": _digest(counts)}
    return {"settings": found}


def _strands_hold(now: Result, _: Result | None) -> bool:
    return all(one["digest"] == STRANDS_COUNTS[name] for name, one in now["settings"].items())


def _digest(values: Iterable[object]) -> str:
    return hashlib.sha256(repr(sorted(map(str, values))).encode()).hexdigest()[:16]


# -- blind ranking --------------------------------------------------------------------------------

ASIDE = 150
"""The last boards by date, on which the weights below were not fitted."""
BLIND_WEIGHTS = "meant-13"
BLIND_EVERY = 3


def blind_strands(full: bool) -> Result:
    """Rank boards that no weight was fitted on, and look for the place of the official cover."""
    import datetime as dt

    from nightgrid.archive.games.strands.payload import read_payload
    from nightgrid.archive.games.strands.ranking import ranker as ranking
    from nightgrid.archive.games.strands.ranking.weights import fitted_weights

    vocabulary = ranking.ranking_vocabulary()
    meanings = ranking.open_meanings(vocabulary)
    judged = ranking.Ranker(fitted_weights(BLIND_WEIGHTS), vocabulary, meanings)
    places = []
    for path in published("strands")[-ASIDE:][:: 1 if full else BLIND_EVERY]:
        (board,) = read_payload(path.read_bytes(), dt.date.fromisoformat(path.stem))
        official = frozenset(entry.word for entry in board.solution.entries)
        covers = [cover.words for cover in judged.rank(board.puzzle, board.clue)]
        places.append(covers.index(official) if official in covers else len(covers) + ASIDE)
    return {
        "boards": len(places),
        "first": 100 * statistics.mean(place < 1 for place in places),
        "in five": 100 * statistics.mean(place < 5 for place in places),
    }


# -- boards by the million ------------------------------------------------------------------------

BOARDS = 100_000, 1_000_000
"""By default, and with `--full`."""


def end_to_end(full: bool) -> Result:
    """Count generated boards by the command, and by the kernels alone before and after it.

    The corpus is made before, by a count that asks another question.
    """
    boards = BOARDS[full]
    spec = f"pips:n={boards},mix=published,seed=7"
    with scratch("scale") as folder:
        words = ("count", spec, "--lake", str(folder / "lake"), "--workers", str(PROCESSES))
        words = (*words, "--no-prefect", "--json", "--ask")
        list(nightgrid(*words, "first", NIGHTGRID_GAMES="pips"))
        (corpus,) = (folder / "lake" / "corpora").iterdir()
        before = _kernels_alone(corpus)
        (report,) = nightgrid(*words, "count", NIGHTGRID_GAMES="pips")
        after = _kernels_alone(corpus)
    if report["statuses"] != {"solved": boards}:
        raise SystemExit(f"{boards} boards, but {report['statuses']}")
    rate = boards / report["solve_seconds"]
    kernels = 2 / (1 / before + 1 / after)
    return {"boards": boards, "rate": rate, "kernels": kernels, "share": 100 * rate / kernels}


def _kernels_alone(corpus: Path) -> float:
    """Return boards a second of processes that only solve, side by side."""
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        return sum(pool.starmap(_kernel_rate, [(corpus, mine) for mine in range(PROCESSES)]))


def _kernel_rate(corpus: Path, mine: int) -> float:
    import numpy as np
    import pyarrow.parquet as pq

    from nightgrid.archive.lake.arrow_to_numpy import arrays_of
    from nightgrid.solvers.algebra import Ask, Budget
    from nightgrid.solvers.registry import game

    pips, ask = game("pips"), Ask(kind="count")
    pips.warm()
    rows, seconds = 0, 0.0
    # Checkouts before 7a7bca8b have a folder of puzzles in a corpus.
    for path in sorted(corpus.glob("puzzles/*.parquet")) or sorted(corpus.glob("*.parquet")):
        table = pq.read_table(path)
        taken = table.take(np.arange(mine, len(table), PROCESSES))
        # As a plan has them: kernels are faster where boards are like the last one.
        order = np.argsort(-pips.cost_s(arrays_of(taken), ask), kind="stable")
        arrays = arrays_of(taken.take(order))
        begun = time.perf_counter()
        rows += len(pips.solve_batch(arrays, ask, Budget())["status"])
        seconds += time.perf_counter() - begun
    return rows / seconds


# -- large boards on demand -----------------------------------------------------------------------

LARGE_PIPS = ((16, 3), (16, 5))
"""Dominoes and seed of loose boards that one core counts in about 5 s."""
LARGE_STRANDS = ("2025-07-08", "2024-05-25")
"""Published boards whose best covers one core finds in about 4 s."""
WAIT_S = 400.0


def large_on_demand(_: bool) -> Result:
    """Ask a service with two batch processes for large boards, and `solve` in one process.

    What one process takes is the kernel time of `solve`, the mean of before and after.
    """
    from benchmarks.http.service import serving
    from benchmarks.instruments.boards import loose_board
    from nightgrid.solvers.registry import game

    pips = game("pips")
    with scratch("large") as folder:
        questions = []
        for dominoes, seed in LARGE_PIPS:
            path = folder / f"loose-{dominoes}-{seed}.json"
            path.write_text(json.dumps(pips.puzzle_to_json(loose_board(dominoes, seed))))
            questions.append((path, ("--count",), "count"))
        questions += [
            (archive("strands") / f"{date}.json", ("--best", "3"), "best(3)")
            for date in LARGE_STRANDS
        ]
        (folder / "one").mkdir()
        alone = [_alone(path, options) for path, options, _ in questions]
        with serving(
            folder / "one", "--processes", "2", "--interactive", "1",
            NIGHTGRID_GAMES="pips,strands",
        ) as service:  # fmt: skip
            # Without what each process loads when it first uses a game.
            for path, _, ask in (questions[0], questions[-1]):
                _asked(service.port, path, "first" if ask == "count" else "best(1)")
            served = [_asked(service.port, path, ask) for path, _, ask in questions]
        again = [_alone(path, options) for path, options, _ in questions]
    one = [(a + b) / 2 for (a, _), (b, _) in zip(alone, again, strict=True)]
    wrong = [
        str(path.stem)
        for (path, _, _), (_, known), (_, count) in zip(questions, alone, served, strict=True)
        if known != count
    ]
    ratios = [two / alone_s for (two, _), alone_s in zip(served, one, strict=True)]
    return {"ratios": ratios, "ratio": statistics.median(ratios), "one_s": one, "wrong": wrong}


def _alone(path: Path, options: Sequence[str]) -> tuple[float, str]:
    (row, *_) = nightgrid("solve", str(path), *options, "--json")
    return row["kernel_ns"] / 1e9, str(row["count"])


def _asked(port: int, path: Path, ask: str) -> tuple[float, str]:
    """Ask for a board over HTTP and wait; return seconds and the count."""
    import http.client

    payload = json.loads(path.read_text())
    body: dict[str, Any] = {"puzzle": payload, "ask": ask}
    if "startingBoard" in payload:
        words = len(payload["themeWords"])
        body["puzzle"] = {"board": payload["startingBoard"], "theme_words": words}
        body["game"] = "strands"
    begun = time.perf_counter()
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
        headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
        connection.request("POST", "/v1/solves", json.dumps(body), headers)
        reply = connection.getresponse()
        told = json.loads(reply.read())
        connection.close()
        seconds = time.perf_counter() - begun
        if reply.status not in (200, 202) or seconds > WAIT_S:
            what = {name: told.get(name) for name in ("state", "reason", "detail", "progress")}
            raise SystemExit(f"{path.name}: {reply.status} after {seconds:.0f} s: {what}")
        if told["state"] == "done":
            return seconds, str(told["answer"]["count"])


# -- HTTP next to a batch -------------------------------------------------------------------------

RATE, RATE_S, CLOSED_S, KNOWN_S = 40.0, 15.0, 10.0, 6.0
CLOSED_BOARDS, KNOWN_BOARDS = 25_000, 500


def over_http(full: bool) -> Result:
    """Ask a service for hard boards while a batch wants every core: new ones, then known ones."""
    from benchmarks.http.load import batch, bodies, load
    from benchmarks.http.service import serving

    seconds = RATE_S * (4 if full else 1)
    new = bodies(200, int(2 * RATE * seconds))
    more = bodies(201, CLOSED_BOARDS)
    with scratch("http") as folder, serving(folder) as service, batch(service):
        paced = asyncio.run(load(service.port, new, seconds, RATE))
        closed = asyncio.run(load(service.port, more, CLOSED_S, None))
        known = asyncio.run(load(service.port, new[:KNOWN_BOARDS] * 200, KNOWN_S, None))
    return {
        "p50_ms": paced.quantile(0.5),
        "p99_ms": paced.quantile(0.99),
        "closed": closed.rate,
        "known": known.rate,
        "wrong": paced.wrong + closed.wrong + known.wrong,
    }


# -- nights ---------------------------------------------------------------------------------------

NIGHTS, YOUNG_NIGHTS, IN_TURN, JUMP = 1000, 50, 6, 50
"""Days of the old and of the young lake; nights of each that are worked in turn; days that a night
brings before that, but for the last IN_TURN days, which come one a night in both."""


def nights(full: bool) -> Result:
    """Work nights without news, and with a day of news, in an old and a young lake in turn.

    Each is a command as people run it. Seconds are of the processor, with those of its start;
    ratios are medians of the pairs.
    """
    days, jump = NIGHTS, 10 if full else JUMP
    with scratch("nights") as folder:
        payloads = folder / "payloads"
        words = ("generate", "--game", "pips", "--days", str(days + IN_TURN), "--seed", "1")
        list(nightgrid(*words, "--start", "2020-01-01", "--out", str(payloads)))
        files = sorted(payloads.rglob("*.json"))
        old, young = folder / "old", folder / "young"
        for lake, first, step in ((old, 0, jump), (young, days - YOUNG_NIGHTS, jump)):
            (lake / "source").mkdir(parents=True)
            for start in range(first, days, step):
                _bring(lake, files[start : min(start + step, days)])
                _night(lake)
        idle, busy = [], []
        for turn in range(IN_TURN):
            pair = (old, young) if turn % 2 else (young, old)
            took = {lake: _night(lake) for lake in pair}
            idle.append(took[old] / took[young])
            for lake in pair:
                _bring(lake, [files[days + turn]])
            took = {lake: _night(lake) for lake in pair}
            busy.append(took[old] / took[young])
    return {"idle": statistics.median(idle), "day": statistics.median(busy)}


def _bring(lake: Path, files: Iterable[Path]) -> None:
    # What a link names was there long before, as the payloads of a real source are.
    for path in files:
        (lake / "source" / path.name).symlink_to(path)


def _night(lake: Path) -> float:
    """Work a night by the command; return seconds of the processor."""
    words = ["nightly", "--source", str(lake / "source"), "--game", "pips", "--lake"]
    begun = _children_s()
    list(nightgrid(*words, str(lake / "lake"), "--inline", "--no-prefect", "--json"))
    return _children_s() - begun


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- faults ---------------------------------------------------------------------------------------

FAULTS = ("child", "worker", "driver", "server", "wiped")
CHAOS_BOARDS = 600


def faults(full: bool) -> Result:
    """Run the smallest form of the fault suite, which is that of the checkout itself."""
    words = ["-m", "benchmarks.chaos", "--boards", str(CHAOS_BOARDS), "--seed", "1"]
    words += [] if full else ["--storms", "0", "--only", *FAULTS]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=Path.cwd()
    )
    told = [json.loads(line.partition(": {")[1][2:] + line.partition(": {")[2])
            for line in done.stdout.splitlines() if ': {"blows"' in line]  # fmt: skip
    return {
        "faults": len(told),
        "lost": sum(one["lost"] for one in told),
        "doubled": sum(one["doubled"] for one in told),
        "differing": sum(len(one["differing"]) for one in told),
        "code": done.returncode,
        "said": (done.stdout + done.stderr)[-600:] if done.returncode else "",
    }


# -- the table ------------------------------------------------------------------------------------


def _twice(name: str) -> Callable[[Result, Result | None], bool]:
    return lambda now, before: before is None or now[name] <= 2 * before[name]


def _half(name: str) -> Callable[[Result, Result | None], bool]:
    return lambda now, before: before is None or 2 * now[name] >= before[name]


ROWS = {
    "pips": Row(
        what="exactness: counts of published Pips",
        keep="all",
        probe=pips_counts,
        shown=lambda r: (
            f"{r['compared'] - len(r['wrong'])} of {r['compared']} compared, {r['boards']} counted"
        ),
        holds=lambda now, before: (
            not now["wrong"] and (before is None or now["digest"] == before["digest"])
        ),
    ),
    "strands": Row(
        what="exactness: counts of published Strands, two settings",
        keep="all",
        probe=strands_counts,
        shown=lambda r: ", ".join(
            f"{name}: {one['boards']} {one['digest'][:6]}" for name, one in r["settings"].items()
        ),
        holds=_strands_hold,
    ),
    "blind": Row(
        what="blind Strands, of the last 150",
        keep="92.5 % first, 98 % in five",
        probe=blind_strands,
        shown=lambda r: f"{r['first']:.1f} %, {r['in five']:.1f} % of {r['boards']}",
        # A sample wanders: without the other checkout only the limit of the whole is looked at.
        holds=lambda now, before: (
            (now["first"], now["in five"])
            >= ((before["first"], before["in five"]) if before else (92.5, 98.0))
        ),
    ),
    "scale": Row(
        what="boards end to end / kernels alone",
        keep="75 % (10^6 boards; 65 % of 10^5)",
        probe=end_to_end,
        shown=lambda r: f"{r['share']:.0f} % of {r['kernels']:,.0f}/s, {r['boards']:,} boards",
        holds=lambda now, _: now["share"] >= (75 if now["boards"] >= BOARDS[1] else 65),
    ),
    "large": Row(
        what="large board on demand, 2 workers / 1 process",
        keep="0.75 (boards over 3 s)",
        probe=large_on_demand,
        shown=lambda r: (
            f"{r['ratio']:.2f} ({min(r['ratios']):.2f}-{max(r['ratios']):.2f}"
            + (f"; WRONG {', '.join(r['wrong'])})" if r["wrong"] else ")")
        ),
        holds=lambda now, _: not now["wrong"] and now["ratio"] <= 0.75,
    ),
    "http": Row(
        what="new hard Pips over HTTP next to a batch, 40 a second: p50, p99",
        keep="twice as long",
        probe=over_http,
        shown=lambda r: f"{r['p50_ms']:.1f} ms, {r['p99_ms']:.1f} ms",
        holds=lambda now, before: (
            not now["wrong"] and all(_twice(name)(now, before) for name in ("p50_ms", "p99_ms"))
        ),
    ),
    "http-closed": Row(
        what="the same, 20 clients in a closed loop",
        keep="half",
        probe=over_http,
        shown=lambda r: f"{r['closed']:,.0f}/s",
        holds=_half("closed"),
    ),
    "http-known": Row(
        what="known answers over HTTP",
        keep="half",
        probe=over_http,
        shown=lambda r: f"{r['known']:,.0f}/s",
        holds=_half("known"),
    ),
    "nights": Row(
        what="idle night on a lake of 1,000 days / of 50 (and with a day of news)",
        keep="1.3",
        probe=nights,
        shown=lambda r: f"{r['idle']:.2f} ({r['day']:.2f})",
        holds=lambda now, _: now["idle"] <= 1.3,
    ),
    "faults": Row(
        what="kills and wipes in the middle of runs",
        keep="nothing lost",
        probe=faults,
        shown=lambda r: (
            f"{r['lost']} lost, {r['doubled']} doubled, {r['differing']} differing of "
            f"{r['faults']} faults" + (f", exit code {r['code']}" if r["code"] else "")
        ),
        holds=lambda now, _: (
            now["faults"] > 0 and not now["lost"] + now["doubled"] + now["differing"]
        ),
    ),
}


def archive(name: str) -> Path:
    """Name a folder of the published archive."""
    return Path(os.environ.get("NIGHTGRID_ARCHIVE") or ROOT.parent / "shared" / "puzzles") / name


def published(game: str) -> list[Path]:
    """List the published payloads of a game by date. Raises SystemExit when there are none."""
    files = sorted(archive(game).glob("*.json"))
    if not files:
        raise SystemExit(f"no payloads in {archive(game)}; expected NIGHTGRID_ARCHIVE to name them")
    return files


@contextlib.contextmanager
def scratch(name: str) -> Iterator[Path]:
    """Make a folder for the length of a block."""
    with tempfile.TemporaryDirectory(prefix=f"nightgrid-guard-{name}-") as folder:
        yield Path(folder)


def nightgrid(*words: str, **env: str) -> Iterator[Result]:
    """Run a command of the measured checkout; yield the JSON objects that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "nightgrid", *words],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    # 2, 4 and 5: done, and a board has no solution, is over budget, or deserves a look.
    if done.returncode not in (0, 2, 4, 5):
        shown = " ".join(words)[:200]
        raise SystemExit(f"nightgrid {shown} ended with {done.returncode}: {done.stderr[-1000:]}")
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def measured(row: Row, clone: Path, *, full: bool) -> Result:
    """Measure a row for a checkout, by a process of its own; `error` says why it could not be."""
    words = [sys.executable, "-P", __file__, "--probe", row.probe.__name__]
    variables = {**os.environ, "PYTHONPATH": str(clone), "NIGHTGRID_ARCHIVE": str(archive(""))}
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [*words, *(["--full"] if full else [])],
            cwd=clone, env=variables, capture_output=True, text=True,
            timeout=ROW_S * (10 if full else 1), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"took longer than {ROW_S:g} s"}
    if done.returncode:
        return {"error": (done.stderr.strip() or "no words")[-600:]}
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": time.monotonic() - begun}


def commit(clone: Path) -> str:
    """Name the commit of a checkout."""
    words = ["git", "-C", str(clone), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Measure the rows and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, metavar="CLONE", help="another checkout")
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--full", action="store_true", help="whole archives, 10^6 boards: hours")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--probe", help=argparse.SUPPRESS)
    add_write(parser)
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(globals()[options.probe](options.full)))
        return 0
    clones = {"now": ROOT}
    if options.against is not None:
        clones = {"before": options.against.resolve(), **clones}
    found: dict[str, dict[str, Result]] = {}
    known: dict[tuple[str, str], Result] = {}
    held = {}
    for name in options.only or ROWS:
        row = ROWS[name]
        # In turn: the checkout that is measured first changes with each row.
        for side in list(clones)[:: -1 if len(found) % 2 else 1]:
            key = (row.probe.__name__, side)
            if key not in known:
                known[key] = measured(row, clones[side], full=options.full)
        found[name] = {side: known[row.probe.__name__, side] for side in clones}
        held[name] = _holds(row, found[name])
        shown = {side: _shown(row, one) for side, one in found[name].items()}
        print(f"{name}: {shown}, {held[name]}", file=sys.stderr, flush=True)
    section = _section(found, held, clones, options)
    if options.json is not None:
        options.json.write_text(json.dumps({"rows": found, "holds": held}, indent=1) + "\n")
    finish(section, to_results=options.write)
    return int(not all(held.values()))


def _holds(row: Row, found: dict[str, Result]) -> bool:
    before = found.get("before")
    if "error" in found["now"]:
        return False
    return row.holds(found["now"], None if before is None or "error" in before else before)


def _shown(row: Row, result: Result) -> str:
    if "error" in result:
        return "failed: " + result["error"].splitlines()[-1][:120]
    return row.shown(result)


def _section(
    found: dict[str, dict[str, Result]],
    held: dict[str, bool],
    clones: dict[str, Path],
    options: argparse.Namespace,
) -> Section:
    given = [*(["--against", "CLONE"] if options.against else []), *(["--full"] * options.full)]
    given += ["--only", *options.only] if options.only else []
    section = Section(
        name="guards",
        title="Numbers that must not get worse",
        command=" ".join(["python -m benchmarks.guards", *given]),
    )
    section.table(
        ("what", *(f"{side} ({commit(clone)})" for side, clone in clones.items()), "keep", "holds"),
        [
            (
                ROWS[name].what,
                *(_shown(ROWS[name], one) for one in sides.values()),
                ROWS[name].keep,
                "yes" if held[name] else "NO",
            )
            for name, sides in found.items()
        ],
    )
    minutes = {
        id(one): one.get("seconds", 0.0) for sides in found.values() for one in sides.values()
    }
    section.say(
        "Row by row, and within a row one checkout after the other; each is a process with that "
        f"checkout as its code. {sum(minutes.values()) / 60:.0f} minutes in all. Twice and half "
        "are of what the other checkout has in the same run."
    )
    return section


if __name__ == "__main__":
    sys.exit(main())
