"""`nightgrid play`: guess the words of a Strands board one by one, and hear what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.answers import each_puzzle, head_json, say_head
from nightgrid.service.options.shared_options import Files, Json
from nightgrid.service.terminal.console import Exit, emit, say
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from nightgrid.archive.games.strands.ranking.play import Answer, Play
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found

ANSWERS: dict[str, Answer] = {"t": "theme word", "s": "spangram", "n": "not in the list"}


def play(
    *,
    files: Files = None,
    auto: Annotated[
        bool,
        typer.Option("--auto", help="Hear the answers of the payload's own solution."),
    ] = False,
    json: Json = False,
) -> int:
    """Play Strands boards: propose the likeliest word, hear what it is, and think again.

    Each answer is t for a theme word, s for the spangram or n for a word that is not in the list.
    What is proposed next follows from the covers that agree with every answer. Exit code: 0 every
    word was found, 2 no ranked cover agrees with the answers, 3 bad input.
    """
    from nightgrid.service.options.reading import read_sources

    if json and not auto:
        raise PermanentError("--json is given without --auto; expected answers from the payload")

    def work(found: Found, published: Published) -> Exit:
        if not json:
            say_head(found, published, published.puzzle)
        truth = _truth(published) if auto else None
        game = _opened(published)
        wrong, solved = _played(game, truth, published, silent=json)
        if json:
            heard = [{"word": word, "answer": answer} for word, answer in game.heard.items()]
            result: dict[str, Any] = {"guesses": heard, "wrong": wrong, "solved": solved}
            emit(head_json(found, published.puzzle) | result)
        elif solved:
            say(f"Every word is found; {wrong} guesses were wrong.")
        else:
            say(f"No ranked cover agrees with the answers, after {wrong} wrong guesses.")
        return Exit.OK if solved else Exit.UNSOLVABLE

    sources = read_sources(files or [], (), "strands", {}, None)
    return each_puzzle(sources, work, ask=None, json=json)


def _opened(published: Published) -> Play:
    from nightgrid.archive.games.strands.ranking.play import Play, Possible
    from nightgrid.service.games.strands.ranking import ranked_covers

    covers = ranked_covers(published.puzzle, published.clue)
    return Play(
        [
            Possible(
                spangram=cover.spangram,
                theme_words=frozenset(cover.theme_words),
                probability=cover.confidence,
            )
            for cover in covers
        ]
    )


def _truth(published: Published) -> dict[str, Answer]:
    """Name the words of a payload's own solution."""
    cover = published.solution
    if cover is None or cover.spangram is None:
        raise PermanentError("--auto needs a payload with its own solution; this one has none")
    truth: dict[str, Answer] = {entry.word: "theme word" for entry in cover.theme_words}
    return truth | {cover.spangram.word: "spangram"}


def _played(
    game: Play, truth: dict[str, Answer] | None, published: Published, *, silent: bool
) -> tuple[int, bool]:
    """Propose words until all are found: wrong guesses, and whether they are."""
    words = (published.puzzle.theme_words or 0) + 1
    while sum(answer != "not in the list" for answer in game.heard.values()) < words:
        word = game.guess()
        if word is None:
            return game.wrong_count, False
        chance = game.chances()[word]
        if truth is None:
            answer = _ask(word, chance)
        else:
            answer = truth.get(word, "not in the list")
            if not silent:
                say(f"{word} ({chance:.0%}): {answer}")
        game.hear(word, answer)
    return game.wrong_count, True


def _ask(word: str, chance: float) -> Answer:
    while True:
        try:
            said = input(f"{word} ({chance:.0%}) t/s/n? ").strip().lower()[:1]
        except EOFError:
            raise PermanentError(
                f"the input ended; expected t, s or n as the answer to {word}"
            ) from None
        if said in ANSWERS:
            return ANSWERS[said]
        say("Expected t for a theme word, s for the spangram, or n for not in the list.")
