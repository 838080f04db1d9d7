"""Celery's transport over Redis, which drops what is no message where its own would end the worker.

A queue is a list in Redis, into which any client can push: text that is no JSON, JSON that nests
without end, a message without headers. kombu and Celery expect what they wrote themselves.
"""

from __future__ import annotations

from typing import Any

import kombu.transport
import redis
from kombu.transport import redis as kombu_redis

from nightgrid.workers.broker.malformed import MALFORMED, count_malformed

UNACKED = "unacked"
"""What messages are counted under that were taken and cannot be handed back."""
WRONG_TYPE = "WRONGTYPE"
"""Begins what Redis says of a key that holds something else than was asked for."""


class QoS(kombu_redis.QoS):  # type: ignore[misc]
    """Keeps messages that are not acknowledged; forgets one that cannot be read."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        """Hand a message back to its queue."""
        try:
            super().restore_by_tag(tag, client, leftmost)
        except MALFORMED as error:
            with self.channel.conn_or_acquire(client) as server:
                pipe = server.pipeline()
                self._remove_from_indices(tag, pipe).execute()
            count_malformed(UNACKED, error)


class Channel(kombu_redis.Channel):  # type: ignore[misc]
    """Takes messages from queues."""

    QoS = QoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except MALFORMED as error:
            # What was read is no JSON. It is out of its list: no worker meets it again.
            count_malformed(None, error)
            return True
        except redis.ResponseError as error:
            if not str(error).startswith(WRONG_TYPE):
                raise
            self._drop_what_is_no_list()
            return True

    def _drop_what_is_no_list(self) -> None:
        """Delete what another program has put in the place of a queue: its list is gone already."""
        with self.conn_or_acquire() as client:
            for queue in self.active_queues:
                for step in self.priority_steps:
                    key = self._q_for_pri(queue, step)
                    try:
                        client.llen(key)
                    except redis.ResponseError as error:
                        count_malformed(queue, error)
                        client.delete(key)


class Transport(kombu_redis.Transport):  # type: ignore[misc]
    """Delivers messages to Celery."""

    Channel = Channel

    def _deliver(self, message: Any, queue: str) -> None:
        try:
            super()._deliver(message, queue)
        except MALFORMED as error:
            count_malformed(queue, error)
            self._forget(message)

    def _forget(self, message: Any) -> None:
        """Take a message out of those that are acquired, if it came so far."""
        try:
            tag = message["properties"]["delivery_tag"]
            channels = [channel for channel in self.channels if channel is not None]
            for channel in channels:
                if tag in channel.qos._delivered:  # noqa: SLF001 - kombu has no other way to ask
                    channel.qos.reject(tag, requeue=False)
        except MALFORMED:
            return


def install() -> None:
    """Let every connection of this process to Redis use this transport."""
    for scheme in ("redis", "rediss"):
        kombu.transport.TRANSPORT_ALIASES[scheme] = f"{__name__}:Transport"
