"""The workers' Celery app with the toy game in place of Pips."""

import toy_game

toy_game.install()

from workers import tasks  # noqa: E402

tasks.game_named = lambda name: toy_game.TOY
app = tasks.app

__all__ = ["app"]
