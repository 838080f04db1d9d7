# ruff: noqa: ANN001, ANN201, ANN205, ARG005, B905, D101, D102, RUF005
# mypy: ignore-errors
"""Search chains of a board state by state."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator

from solvers.algebra import Budget, Statistics
from solvers.letterboxed.model import Model
from solvers.letterboxed.rules import Rules

START, COMPLETE, DEAD = 0, -2, -1
NODES, BYTES, SECONDS, TOO_LARGE = 1, 2, 3, 4
REASONS = (
    "",
    "the budget of nodes ran out",
    "the budget of table bytes ran out",
    "the budget of seconds ran out",
    "the count is 10^38 or more",
)


class BudgetSpentError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Search:
    engine = "general"

    def __init__(self, model: Model, rules: Rules, budget: Budget) -> None:
        self.model, self.rules, self.budget = model, rules, budget
        self.nodes = 0
        self.started = time.monotonic()
        self.need = tuple(int(x) for x in model.sides.ravel())
        self.k = model.sides.shape[1]
        self.states = [(-1, ())]
        self.ids = {}
        self.steps = {}
        self.feasible: dict[tuple[int, int], int] = {}
        self.words = [
            tuple(int(x) for x in model.letters[model.offsets[w] : model.offsets[w + 1]])
            for w in range(len(model))
        ]
        self.stand = [
            [s for s in range(len(model.sides)) if model.sides[s, a]] for a in range(self.k)
        ]

    def statistics(self) -> Statistics:
        return Statistics(
            states=len(self.states),
            nodes=self.nodes,
            kernel_ns=int((time.monotonic() - self.started) * 1e9),
            table_bytes=len(self.states) * 64,
        )

    def spend(self, n: int = 1) -> None:
        self.nodes += n
        if self.nodes > self.budget.nodes:
            raise BudgetSpentError(NODES)
        if len(self.states) * 64 > self.budget.table_bytes:
            raise BudgetSpentError(BYTES)
        if time.monotonic() - self.started > self.budget.seconds:
            raise BudgetSpentError(SECONDS)

    def range(self, state: int) -> tuple[int, int]:
        if state == START:
            return 0, len(self.words)
        last = self.states[state][0]
        return int(self.model.begins[last]), int(self.model.begins[last + 1])

    def step(self, state: int, w: int) -> int:
        key = state, w
        if key in self.steps:
            return self.steps[key]
        self.spend()
        word = self.words[w]
        if state == START:
            configs = {self.collect(s, self.need, word[0]) for s in self.stand[word[0]]}
        else:
            configs = set(self.states[state][1])
        for a in word[1:]:
            configs = {
                self.collect(s, rest, a) for t, rest in configs for s in self.stand[a] if s != t
            }
            configs = self.antichain(configs)
        if not configs:
            to = DEAD
        elif any(not any(rest) for _, rest in configs):
            to = COMPLETE
        else:
            full = word[-1], tuple(sorted(configs))
            to = self.ids.get(full, 0)
            if not to:
                to = self.ids[full] = len(self.states)
                self.states.append(full)
        self.steps[key] = to
        return to

    def collect(self, side, rest, a):
        i = side * self.k + a
        return side, (rest[:i] + (rest[i] - 1,) + rest[i + 1 :] if rest[i] else rest)

    def antichain(self, configs):
        if len(configs) < 2:
            return configs
        return {
            c
            for c in configs
            if not any(
                d != c and d[0] == c[0] and all(x <= y for x, y in zip(d[1], c[1])) for d in configs
            )
        }

    def explore(self, start: int, at: range) -> None:
        """Find every state that can be reached, and how far each is from completion."""
        self.root, self.at = start, at
        back, order, seen = {}, [start], {start: 0}
        chains = self.rules.chains
        deepest = chains if isinstance(chains, int) else 10**9
        for state in order:
            if seen[state] >= deepest:
                break
            lo, hi = self.children(state)
            for w in range(lo, hi):
                to = self.step(state, w)
                if to == DEAD:
                    continue
                add = self.added(state, w)
                if self.rules.chains == "fewest-letters" and len(self.words[w]) == 1:
                    if state != START or to != COMPLETE:
                        continue
                back.setdefault(to, set()).add((state, add))
                if to == COMPLETE and chains == "fewest-words":
                    deepest = min(deepest, seen[state] + 1)
                if to not in seen and to != COMPLETE:
                    seen[to] = seen[state] + 1
                    order.append(to)
        self.words_left = self.dijkstra(back, lambda add: 1)
        self.letters_left = self.dijkstra(back, lambda add: add)

    @staticmethod
    def dijkstra(back, cost):
        left, heap = {}, [(0, COMPLETE)]
        while heap:
            d, state = heapq.heappop(heap)
            if state in left:
                continue
            left[state] = d
            for before, add in back.get(state, ()):
                if before not in left:
                    heapq.heappush(heap, (d + cost(add), before))
        return left

    def added(self, state: int, w: int) -> int:
        return len(self.words[w]) - (state != START)

    def children(self, state: int) -> tuple[int, int]:
        """The words that may follow; those of the root are the part's."""
        lo, hi = self.range(state)
        if state == self.root:
            lo, hi = max(lo, self.at.start), min(hi, self.at.stop)
        return lo, max(lo, hi)

    def onward(self, state: int) -> Iterator[tuple[int, int, int]]:
        """Words that lead on towards completion: (word, state, letters added)."""
        letters = self.rules.chains == "fewest-letters"
        lo, hi = self.children(state)
        self.spend(hi - lo)
        for w in range(lo, hi):
            to = self.step(state, w)
            if to == DEAD or to not in self.words_left:
                continue
            add = self.added(state, w)
            if letters:
                if len(self.words[w]) == 1 and (state != START or to != COMPLETE):
                    continue
                if self.letters_left[to] + add != self.letters_left[state]:
                    continue
            yield w, to, 0 if letters else add

    def most(self) -> int:
        """Most words of a chain that counts."""
        chains = self.rules.chains
        if chains == "fewest-words":
            return self.words_left[self.root]
        if chains == "fewest-letters":
            return self.letters_left[self.root]
        return chains

    def answer(self) -> tuple[int | None, int]:
        """Value and number of the chains of the part."""
        if self.root not in self.words_left:
            return None, 0
        most = self.most()
        if self.words_left[self.root] > most:
            return None, 0
        layer, total = {self.root: 1}, 0
        for k in range(1, most + 1):
            new: dict[int, int] = {}
            for state, n in layer.items():
                for _, to, _ in self.onward(state):
                    if self.words_left[to] <= most - k:
                        new[to] = new.get(to, 0) + n
            total += new.pop(COMPLETE, 0)
            if total >= 10**38:
                raise BudgetSpentError(TOO_LARGE)
            layer = new
            if not layer:
                break
        if self.rules.chains == "fewest-letters":
            return self.letters_left[self.root], total
        return self.words_left[self.root], total

    def lengths(self, state: int, k: int) -> int:
        """Set of the letters that k more words may add to complete, as bits."""
        key = state, k
        if key not in self.feasible:
            bits = 0
            for _, to, add in self.onward(state):
                if to == COMPLETE:
                    bits |= (k == 1) << add
                elif k > 1 and self.words_left[to] < k:
                    bits |= self.lengths(to, k - 1) << add
            self.feasible[key] = bits
        return self.feasible[key]

    def chains(self) -> Iterator[tuple[int, ...]]:
        """Chains of the part in canonical order."""
        if self.root not in self.words_left:
            return
        for k in range(self.words_left[self.root], self.most() + 1):
            bits = self.lengths(self.root, k)
            while bits:
                letters = (bits & -bits).bit_length() - 1
                bits &= bits - 1
                yield from self.listed(self.root, k, letters)

    def listed(self, state: int, k: int, letters: int) -> Iterator[tuple[int, ...]]:
        for w, to, add in self.onward(state):
            if to == COMPLETE:
                if k == 1 and letters == add:
                    yield (w,)
            elif k > 1 and letters >= add and self.lengths(to, k - 1) >> (letters - add) & 1:
                for rest in self.listed(to, k - 1, letters - add):
                    yield (w, *rest)
