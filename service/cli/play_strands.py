"""`nightgrid play`: guess the words of a Strands board one by one, and get answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.answers import each_puzzle, head_json, say_head
from nightgrid.service.options.shared_options import Files, Json, LakeOption, default_budget
from nightgrid.service.terminal.console import emit, say, sentence_of
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.games.strands.playing.play import Answer, Guess, Play, Played
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import ReadItem
    from nightgrid.solvers.strands.puzzle import Puzzle

ANSWERS: dict[str, Answer] = {"t": "theme word", "s": "spangram", "n": "not in the list"}
MEANING = (
    "t for a theme word, s for the spangram, n for not in the list, h and the cells of a hint of "
    "the game, as row,column from 1,1, or q to quit"
)
_PLACE = re.compile(r"([0-9]{1,4}),([0-9]{1,4})")
"""A cell, by row and column."""


def play(
    *,
    files: Files = None,
    auto: Annotated[
        bool,
        typer.Option("--auto", help="Take the answers from the payload's own solution."),
    ] = False,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Play Strands boards, word by word.

    It proposes the likeliest word. Each answer is t for a theme word, s for the spangram, n for a
    word that is not in the list, h with the cells that a hint of the game shows, as row,column from
    1,1, or q to quit.

    Exit code: 0 every word was found, 2 no ranked cover agrees with the answers, 3 bad input, 130
    quit.
    """
    from nightgrid.archive.games import ranking_plug
    from nightgrid.archive.games.strands.playing.conditioned import open_play
    from nightgrid.archive.games.strands.ranking.meant import MeantGame
    from nightgrid.service.games.strands.ranking import within_budget
    from nightgrid.service.options.reading import read_sources

    if json and not auto:
        raise PermanentError("--json is given without --auto; expected answers from the payload")

    def work(found: ReadItem, published: Published) -> Exit:
        if not json:
            say_head(found, published, published.puzzle)
        truth = _truth(published) if auto else None
        ranker = MeantGame().open()
        with_model = ranker.meanings is not None
        with within_budget():
            game = open_play(ranker, published.puzzle, published.clue, default_budget())
            if not json:
                say(f"Covers are ranked by {ranker.name}.")
                if not with_model:
                    say(sentence_of(ranking_plug().ALONE))
            played = _played(game, truth, published, silent=json)
        if json:
            names = {"ranker": ranker.name, "with_model": with_model}
            told = _to_json(played, published.puzzle)
            emit(head_json(found, published.puzzle) | names | told)
        else:
            say(_ending(played))
        return Exit.OK if played.solved else Exit.UNSOLVABLE

    sources = (_of_strands(found) for found in read_sources(files or [], lake=lake))
    return each_puzzle(sources, work, json=json)


def _of_strands(found: ReadItem) -> ReadItem:
    """Return the puzzle. Raises PermanentError for a board of another game."""
    if found.game not in ("", "strands"):
        raise PermanentError(
            f"{found.source} holds a board of {game_plug(found.game).title}; expected one of "
            f"{game_plug('strands').title}, which is what play plays"
        )
    return found


def _truth(published: Published) -> dict[str, Answer]:
    """Return the words of a payload's own solution."""
    cover = published.solution
    if cover is None or cover.spangram is None:
        raise PermanentError("--auto needs a payload with its own solution; this one has none")
    truth: dict[str, Answer] = {entry.word: "theme word" for entry in cover.theme_words}
    return truth | {cover.spangram.word: "spangram"}


def _cells(published: Published) -> dict[str, frozenset[int]]:
    """Return the cells of the words of a payload's own solution, as far as it has them."""
    width = published.puzzle.column_count
    entries = () if published.solution is None else published.solution.entries
    return {
        entry.word: frozenset(r * width + c for r, c in entry.path)
        for entry in entries
        if entry.path
    }


def _played(
    game: Play, truth: dict[str, Answer] | None, published: Published, *, silent: bool
) -> Played:
    """Propose words until all are found."""
    from nightgrid.archive.games.strands.playing.play import Played, play_board

    puzzle = published.puzzle
    if truth is not None:

        def tell(guess: Guess, answer: Answer) -> None:
            if not silent:
                say(f"{_proposed(guess, puzzle)}: {answer}")

        def show(cells: frozenset[int]) -> None:
            if not silent:
                say(f"Hint: {_places(cells, puzzle)}")

        return play_board(game, truth, _cells(published), tell, show)
    words = (puzzle.theme_words or 0) + 1
    say(f"Answer {MEANING}.\n")
    while len(game.found) < words and (guess := game.proposal()) is not None:
        letter, cells = _ask(guess, puzzle)
        if letter == "q":
            spent = _spent(game.wrong_count, game.hint_count)
            say(f"Stopped with {len(game.found)} of {plural(words, 'word')} found, {spent}.")
            # It prints more than `run` does.
            raise typer.Abort
        if letter == "h":
            game.take_hint(cells)
        else:
            game.hear(guess.word, ANSWERS[letter])
    return Played(wrong=game.wrong_count, hints=game.hint_count, solved=len(game.found) == words)


def _ask(guess: Guess, puzzle: Puzzle) -> tuple[str, frozenset[int]]:
    """Ask what a word is; return the letter of the answer, and the cells of a hint."""
    while True:
        try:
            said = input(f"{_proposed(guess, puzzle)} t/s/n/h/q? ")
        except (EOFError, RuntimeError):  # Of an input that is closed.
            raise PermanentError(
                f"the input ended; expected t, s, n, h or q as the answer to {guess.word}"
            ) from None
        letter, *places = said.lower().split() or [""]
        cells = _read_cells(places, puzzle)
        if (letter in (*ANSWERS, "q") and not places) or (letter == "h" and cells):
            return letter, cells
        say("Expected t, s, n, q, or h and cells, such as h 1,2 1,3.")


def _read_cells(places: Sequence[str], puzzle: Puzzle) -> frozenset[int]:
    """Parse cells; return none if one of them is not on the board."""
    cells = set()
    for place in places:
        parts = _PLACE.fullmatch(place)
        r, c = (int(parts[1]) - 1, int(parts[2]) - 1) if parts else (-1, -1)
        if not (0 <= r < puzzle.row_count and 0 <= c < puzzle.column_count):
            return frozenset()
        cells.add(r * puzzle.column_count + c)
    return frozenset(cells)


def _proposed(guess: Guess, puzzle: Puzzle) -> str:
    """Format a proposal: the word, its probability, and its cells."""
    what = ", spangram" if guess.role == "spangram" else ""
    at = f" on {_places(guess.cells, puzzle)}" if guess.cells else ""
    return f"{guess.word} ({guess.chance:.0%}{what}){at}"


def _places(cells: frozenset[int], puzzle: Puzzle) -> str:
    return " ".join(f"{r + 1},{c + 1}" for r, c in _pairs(cells, puzzle))


def _pairs(cells: frozenset[int], puzzle: Puzzle) -> list[tuple[int, int]]:
    return [divmod(cell, puzzle.column_count) for cell in sorted(cells)]


def _ending(played: Played) -> str:
    spent = _spent(played.wrong, played.hints)
    if played.solved:
        return f"Every word is found, with {spent}."
    return f"No ranked cover agrees with the answers, after {spent}."


def _spent(wrong: int, hints: int) -> str:
    guesses = "1 wrong guess" if wrong == 1 else f"{wrong} wrong guesses"
    return f"{guesses} and {plural(hints, 'hint')}"


def _to_json(played: Played, puzzle: Puzzle) -> dict[str, Any]:
    return {
        "guesses": [
            {
                "word": guess.word,
                "answer": answer,
                "chance": round(guess.chance, 6),
                "role": guess.role,
                "spangram_chance": round(guess.spangram_chance, 6),
                "cells": _pairs(guess.cells, puzzle),
            }
            for guess, answer in played.guesses
        ],
        "wrong": played.wrong,
        "hints": played.hints,
        "solved": played.solved,
    }
