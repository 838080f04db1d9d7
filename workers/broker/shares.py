"""A job's first choices in Redis: idle processes take ranges of them from its worker.

A job is cut into steps. Each process that works the job has a range of steps, works it from
its beginning, and at its end takes the second half of the longest range that another process has
left. All of it is a shortcut: the job's own worker works what no other process has brought back,
so that losing any of it costs time and changes nothing in the answer.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.malformed import MALFORMED
from nightgrid.workers.settings import Settings

KEPT_SECONDS = 900
"""Longer than any task may run."""
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
    def open(
        cls, client: redis.Redis, settings: Settings, token: str, first: int, steps: int
    ) -> Share:
        """Share the steps from `first` on, all of which are the caller's. Raises RedisError."""
        share = cls.join(client, settings, token)
        pipe = client.pipeline()
        low_high: dict[Any, Any] = {f"low:{share.process}": first, f"high:{share.process}": steps}
        pipe.hset(share.key, mapping=low_high)
        pipe.expire(share.key, KEPT_SECONDS)
        pipe.execute()
        return share

    @classmethod
    def join(cls, client: redis.Redis, settings: Settings, token: str) -> Share:
        """Take part as another process."""
        return cls(client, f"{key_prefix(settings)}share:{token}", uuid.uuid4().hex[:12])

    @property
    def _outcomes(self) -> str:
        return f"{self.key}:outcomes"

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
        self.client.delete(self.key, self._outcomes)
