"""The workers' Celery app with the toy game in place of Pips."""

import toy_game

toy_game.install()

from workers.app import app  # noqa: E402

__all__ = ["app"]
