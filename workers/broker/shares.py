"""A job's first choices in Redis: idle processes take ranges of them from its worker.

A job is cut into steps, in ranges. A range is worked from both its ends, by one process from each:
two that work a job meet where both are done, whatever the steps cost, and each has worked steps
that lie side by side, of which much is known from the one before. It takes several at once, the
fewer the less is left. A process that finds no range with an end to begin at cuts one in the
middle. All of it is a shortcut: the job's own worker works what no other process has brought back,
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
TAKEN_SHARE = 8
"""A process takes one step in so many of what is left of a range at once: to ask for each would
take 3 % of the time, since a server waits for a core where every core has a worker."""

_TAKE = """
local process, share = ARGV[1], tonumber(ARGV[2])
local function get(field) return redis.call('HGET', KEYS[1], field) end
local function set(...) redis.call('HSET', KEYS[1], ...) end
local function number(field) return tonumber(get(field) or '0') end
local function left(range) return number('high:' .. range) - number('low:' .. range) end
local function take_from(range, is_front)
  local low, high = number('low:' .. range), number('high:' .. range)
  local many = math.max(1, math.floor((high - low) / share))
  set('at:' .. process, range)
  if is_front then
    set('low:' .. range, low + many)
    return {low, low + many}
  end
  set('high:' .. range, high - many)
  return {high - many, high}
end

local own = get('at:' .. process)
if own and left(own) > 0 then return take_from(own, get('front:' .. own) == process) end

local range, most = nil, 0
for one = 1, number('ranges') do
  local workers = (get('front:' .. one) and 1 or 0) + (get('back:' .. one) and 1 or 0)
  local each = left(one) / (workers + 1)
  if each > most then range, most = one, each end
end
if range == nil then return {0, 0} end
local front, back = get('front:' .. range), get('back:' .. range)
if front and back then
  local middle = number('low:' .. range) + math.ceil(left(range) / 2)
  local cut = number('ranges') + 1
  set('ranges', cut, 'low:' .. cut, middle, 'high:' .. cut, number('high:' .. range))
  set('high:' .. range, middle, 'back:' .. cut, back, 'at:' .. back, cut)
end
local is_front = not front
set((is_front and 'front:' or 'back:') .. range, process)
return take_from(range, is_front)
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
        # Not "share:": workers of earlier software keep other fields under that name.
        return cls(client, f"{key_prefix(settings)}ranges:{token}", uuid.uuid4().hex[:12])

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
            "ranges": 1,
            "low:1": first,
            "high:1": steps,
            "front:1": self.process,
            f"at:{self.process}": 1,
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

    def take(self) -> range:
        """Take the next steps; none where nothing is left or shared any more. Raises RedisError."""
        taken: Any = self.client.eval(_TAKE, 1, self.key, self.process, TAKEN_SHARE)
        return range(*map(int, taken))

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
        """Share no more: other processes find nothing to take. Raises RedisError."""
        self.client.delete(self.key, self._outcomes, self._opened)
