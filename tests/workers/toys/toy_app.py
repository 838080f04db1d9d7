"""The workers' Celery app with the toy game in place of Pips."""

import toy_game

toy_game.install()

from nightgrid.workers.celery_worker import tasks  # noqa: E402

app = tasks.app

__all__ = ["app"]
