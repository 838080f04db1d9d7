"""A job's first choices in Redis: idle processes take ranges of them from its worker.

A job is cut into steps. Each process that works the job has a range of steps, works it from
its beginning, and at its end takes the second half of the longest range that another process has
left. All of it is a shortcut: the job's own worker works what no other process has brought back,
so that losing any of it costs time and changes nothing in the answer.
"""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.malformed import MALFORMED
from nightgrid.workers.settings import Settings

KEPT_SECONDS = 900
"""Longer than any task may run."""
NOTIFIED_MAX = 32
"""Processes that are notified of one job, at most."""
OPENED_WITHIN_S = 2.0
"""A process that was notified before a job is shared waits for that so long."""
LOOK_SECONDS = 0.1
"""How often it looks meanwhile whether it is still wanted."""
NOTHING_LEFT, CLOSED = -1, -2

_TAKE = """
if redis.call('EXISTS', KEYS[1]) == 0 then return -2 end
local process = ARGV[1]
local function bound(side, name)
  return tonumber(redis.call('HGET', KEYS[1], side .. ':' .. name) or '0')
end
local low, high = bound('low', process), bound('high', process)
if low >= high then
  local victim, most = nil, 0
  local fields = redis.call('HKEYS', KEYS[1])
  table.sort(fields)
  for _, field in ipairs(fields) do
    if string.sub(field, 1, 4) == 'low:' then
      local name = string.sub(field, 5)
      local left = bound('high', name) - bound('low', name)
      if left > most then victim, most = name, left end
    end
  end
  if victim == nil then return -1 end
  high = bound('high', victim)
  low = high - math.ceil(most / 2)
  redis.call('HSET', KEYS[1], 'high:' .. victim, low)
end
redis.call('HSET', KEYS[1], 'low:' .. process, low + 1, 'high:' .. process, high)
return low
"""


@dataclass(frozen=True, slots=True)
class Share:
    """What a job shares, as one process that works it sees it."""

    client: redis.Redis
    key: str
    process: str

    @classmethod
    def join(cls, client: redis.Redis, settings: Settings, token: str) -> Share:
        """Take part as another process."""
        return cls(client, f"{key_prefix(settings)}share:{token}", uuid.uuid4().hex[:12])

    @property
    def _outcomes(self) -> str:
        return f"{self.key}:outcomes"

    @property
    def _opened(self) -> str:
        return f"{self.key}:opened"

    def announce(self) -> None:
        """Say that there may be steps to take soon. Raises RedisError."""
        pipe = self.client.pipeline()
        pipe.hset(self.key, "announced", 1)
        pipe.expire(self.key, KEPT_SECONDS)
        pipe.execute()

    def open(self, first: int, steps: int, size: int, notified: int) -> None:
        """Share the steps from `first` on, all of which are the caller's. Raises RedisError.

        They are steps of a search of `size` first choices. So many processes are `notified`.
        """
        pipe = self.client.pipeline()
        fields: dict[Any, Any] = {
            f"low:{self.process}": first,
            f"high:{self.process}": steps,
            "steps": steps,
            "size": size,
        }
        pipe.hset(self.key, mapping=fields)
        pipe.expire(self.key, KEPT_SECONDS)
        pipe.rpush(self._opened, *(1 for _ in range(notified)))
        pipe.expire(self._opened, KEPT_SECONDS)
        pipe.execute()

    def is_there(self) -> bool:
        """Tell whether it is announced or open. Raises RedisError."""
        return bool(self.client.exists(self.key))

    def opened(self, timeout_s: float) -> tuple[int, int] | None:
        """Wait until it is open: the numbers of steps and of first choices. Raises RedisError."""
        until = time.monotonic() + timeout_s
        while not self.client.blpop([self._opened], timeout=LOOK_SECONDS):
            if time.monotonic() > until or not self.is_there():
                return None
        shape: Any = self.client.hmget(self.key, ["steps", "size"])
        return None if None in shape else (int(shape[0]), int(shape[1]))

    def take(self) -> int:
        """Take the next step: its number, NOTHING_LEFT or CLOSED. Raises RedisError."""
        taken: Any = self.client.eval(_TAKE, 1, self.key, self.process)
        return int(taken)

    def bring(self, outcome: dict[str, Any]) -> None:
        """Bring back what became of a range. Raises RedisError."""
        pipe = self.client.pipeline()
        pipe.rpush(self._outcomes, json.dumps(outcome))
        pipe.expire(self._outcomes, KEPT_SECONDS)
        pipe.execute()

    def brought(self, timeout_s: float) -> list[dict[str, Any]]:
        """Wait for what other processes bring, and take what is there. Raises RedisError."""
        first: Any = self.client.blpop([self._outcomes], timeout=timeout_s)
        if first is None:
            return []
        more: Any = self.client.lpop(self._outcomes, 1000) or []
        found = []
        for text in (first[1], *more):
            try:
                value = json.loads(text)
            except MALFORMED:
                continue
            if isinstance(value, dict):
                found.append(value)
        return found

    def close(self) -> None:
        """Share no more: other processes stop at their next step. Raises RedisError."""
        self.client.delete(self.key, self._outcomes, self._opened)
