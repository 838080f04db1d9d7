"""A simulation of a run: drivers, queues, workers and storage, each a resource with a rate.

What a task takes is drawn from measured times, everything else costs what was measured for it.
The order of events is that of the program: a driver is one thread that sends, hears and looks; a
worker takes a message, works, puts its part into the lake and tells the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import simpy

Step = Generator[Any, Any, None]
SLICE_S = 0.05
"""A busy core is given back so often, where cores are fewer than those who want them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What one chunk costs each of them, in seconds."""

    send_s: float
    """Driver: put one chunk into the queue."""
    land_s: float
    """Driver: hear of a chunk that is done, read its part."""
    look_s: float
    """Driver: look at one chunk in flight that is not begun, every `every_s`."""
    look_again_s: float
    """Driver: look at one that is begun."""
    every_s: float
    broker_s: float
    """Redis: everything that it does for one chunk."""
    worker_s: float
    """Worker: everything but solving and putting the part."""
    start_s: float = 0.0
    """Until the first message is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Who works."""

    processes: int
    window: int
    """Chunks in flight, for each driver."""
    drivers: int = 1
    """Each has a share of the run and a queue, on a Redis server of its own."""
    cores: int | None = None
    """Cores that drivers, servers and workers share; None: each has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a simulated run went."""

    wall_s: float
    chunks: int
    work_s: float
    busy: float
    """Share of the workers' time in which they solved, as long as there were chunks to take."""
    driver: float
    """Share of the time in which the busiest driver was at work."""
    broker: float


class _Run:
    def __init__(
        self,
        tasks_s: Sequence[float],
        house: House,
        costs: Costs,
        put_s: Callable[[], float],
    ) -> None:
        self.env = simpy.Environment()
        self.costs = costs
        self.put_s = put_s
        self.cores = None if house.cores is None else simpy.Resource(self.env, house.cores)
        self.driver_s = [0.0] * house.drivers
        self.broker_s = [0.0] * house.drivers
        self.solved: list[tuple[float, float]] = []
        self.last_take = 0.0
        shares = [list(tasks_s[k :: house.drivers]) for k in range(house.drivers)]
        ends = []
        for number, share in enumerate(shares):
            queue, told = simpy.Store(self.env), simpy.Store(self.env)
            broker = simpy.Resource(self.env, 1)
            begun: set[int] = set()
            ends.append(
                self.env.process(
                    self.driver(number, share, house.window, queue, told, broker, begun)
                )
            )
            for _ in range(number, house.processes, house.drivers):
                self.env.process(self.worker(number, share, queue, told, broker, begun))
        self.env.run(simpy.AllOf(self.env, ends))

    def compute(self, seconds: float) -> Step:
        """Use a core."""
        if self.cores is None:
            yield self.env.timeout(seconds)
            return
        while seconds > 0.0:
            with self.cores.request() as core:
                yield core
                share = min(seconds, SLICE_S)
                yield self.env.timeout(share)
            seconds -= share

    def serve(self, number: int, broker: simpy.Resource, share: float) -> Step:
        """Let Redis do its share for a chunk."""
        seconds = share * self.costs.broker_s
        self.broker_s[number] += seconds
        with broker.request() as turn:
            yield turn
            yield from self.compute(seconds)

    def driver(
        self,
        number: int,
        tasks_s: list[float],
        window: int,
        queue: simpy.Store,
        told: simpy.Store,
        broker: simpy.Resource,
        begun: set[int],
    ) -> Step:
        costs, env = self.costs, self.env
        yield from self.compute(costs.start_s)
        sent = landed = 0
        look_at = env.now + costs.every_s
        while landed < len(tasks_s):
            busy_since = env.now
            while sent < len(tasks_s) and sent - landed < window:
                yield from self.compute(costs.send_s)
                yield from self.serve(number, broker, 0.5)
                yield queue.put(sent)
                sent += 1
            self.driver_s[number] += env.now - busy_since
            if not told.items:
                waited = told.get()
                yield waited | env.timeout(max(0.0, look_at - env.now))
                if not waited.triggered:
                    waited.cancel()
                    heard = 0
                else:
                    heard = 1
            else:
                heard = 0
            busy_since = env.now
            heard += len(told.items)
            told.items.clear()
            for _ in range(heard):
                yield from self.compute(costs.land_s)
            landed += heard
            if env.now >= look_at:
                flying = sent - landed
                known = min(len(begun), flying)
                yield from self.compute(
                    known * costs.look_again_s + (flying - known) * costs.look_s
                )
                look_at = env.now + costs.every_s
            self.driver_s[number] += env.now - busy_since

    def worker(
        self,
        number: int,
        tasks_s: list[float],
        queue: simpy.Store,
        told: simpy.Store,
        broker: simpy.Resource,
        begun: set[int],
    ) -> Step:
        while True:
            chunk = yield queue.get()
            self.last_take = self.env.now
            yield from self.serve(number, broker, 0.5)
            begun.add(chunk)
            yield from self.compute(self.costs.worker_s)
            since = self.env.now
            yield from self.compute(tasks_s[chunk])
            self.solved.append((since, self.env.now))
            yield self.env.timeout(self.put_s())
            begun.discard(chunk)
            told.put(chunk)


def simulate(
    tasks_s: Sequence[float], house: House, costs: Costs, put_s: Callable[[], float]
) -> Outcome:
    """Work these tasks in this order."""
    run = _Run(tasks_s, house, costs, put_s)
    wall_s, most_s = run.env.now, run.last_take
    inside = sum(min(end, most_s) - min(begin, most_s) for begin, end in run.solved)
    return Outcome(
        wall_s=wall_s,
        chunks=len(tasks_s),
        work_s=float(sum(tasks_s)),
        busy=inside / (most_s * house.processes),
        driver=max(run.driver_s) / wall_s,
        broker=max(run.broker_s) / wall_s,
    )


def drawn(values: Sequence[float], seed: int) -> Callable[[], float]:
    """Draw from measured values, as often as they were measured."""
    generator = np.random.default_rng(seed)
    block: list[float] = []

    def draw() -> float:
        if not block:
            block.extend(generator.choice(values, 4096).tolist())
        return block.pop()

    return draw


def lognormal(median_s: float, p99_s: float, seed: int) -> Callable[[], float]:
    """Draw from the lognormal distribution with this median and 99th percentile."""
    sigma = float(np.log(p99_s / median_s)) / 2.3263
    generator = np.random.default_rng(seed)
    block: list[float] = []

    def draw() -> float:
        if not block:
            block.extend(generator.lognormal(np.log(median_s), sigma, 4096).tolist())
        return block.pop()

    return draw
