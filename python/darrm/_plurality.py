"""Tables of many classes for the second checker: see check.py.

The answer to a histogram h of K votes for C classes is private if for every h' that differs
from it by at most t moved votes

    δ = 0:  p(h,c) ≤ E·p(h',c) for each class c,    δ > 0:  Σ_c (p(h,c) - E·p(h',c))₊ ≤ δ.

p(h,c) depends on the sorted h and the votes of c alone, so h is taken sorted and h' is every
vector of counts near it, whichever classes the votes moved between.

Symbols: K teachers, C classes, t affected, δ delta, E factor, μ accuracy, a concentration, D one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

#: The most sorted histograms that are checked one by one, in about a minute.
MAX_HISTOGRAMS = 20_000
#: The most classes: neighbours are listed class by class.
MAX_CLASSES = 200

_ONE = 2**53
_Histogram = Tuple[int, ...]


class Malformed(Exception):
    """The table is none; the text says why."""


def partitions(k: int, classes: int, most: Optional[int] = None) -> Iterator[_Histogram]:
    """The sorted histograms of k votes, in ascending lexicographic order."""
    most = k if most is None else min(most, k)
    if classes == 0:
        if k == 0:
            yield ()
        return
    for first in range(-(-k // classes), most + 1):
        for rest in partitions(k - first, classes - 1, first):
            yield (first, *rest)


def neighbours(h: _Histogram, t: int) -> Iterator[_Histogram]:
    """All vectors of counts but h itself that differ from it by at most t moved votes."""

    def visit(c: int, up: int, down: int, so_far: _Histogram) -> Iterator[_Histogram]:
        if c == len(h):
            if up == down and up:
                yield so_far
            return
        for d in range(-min(h[c], t - down), t - up + 1):
            yield from visit(c + 1, up + max(d, 0), down + max(-d, 0), (*so_far, h[c] + d))

    return visit(0, 0, 0, ())


class Table:
    """The object of a file, checked for form."""

    def __init__(self, raw: Dict[str, Any], number: Callable[[Any, str], Fraction], most: int = MAX_HISTOGRAMS) -> None:
        def whole(name: str, least: int, most: int) -> int:
            value = raw.get(name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise Malformed(f"{name} = {value!r}, but it must be a whole number from {least} to {most}")
            return value

        whole("format_version", 1, 1)
        self.raw, self.number = raw, number
        self.k, self.classes = whole("k", 1, 10**6), whole("classes", 2, 10**6)
        if self.classes > MAX_CLASSES:
            raise Malformed(f"classes = {self.classes}, but at most {MAX_CLASSES} are checked here; use darrm verify for more")
        self.affected = whole("affected", 1, self.k)
        self.total, self.delta = number(raw.get("total_epsilon"), "total_epsilon"), number(raw.get("delta"), "delta")
        if not 0 < self.total <= 700 or not 0 <= self.delta < 1:
            raise Malformed("total_epsilon or delta is out of range")
        self.abstain = number(raw["abstain"], "abstain") if "abstain" in raw else None
        if self.abstain is not None and not 0 <= self.abstain <= 1:
            raise Malformed("abstain is out of [0,1]")
        masses = raw.get("masses")
        if not isinstance(masses, list) or not 0 < len(masses) <= most:
            raise Malformed(f"masses of 1 to {most} histograms are needed; use darrm verify for more")
        self.histograms: List[_Histogram] = []
        self.first: Dict[_Histogram, int] = {}
        self.votes: List[Optional[int]] = []  # of each variable, None for abstaining
        self.size: List[int] = []  # how many classes share its mass
        self.mass: List[int] = []
        listed = partitions(self.k, self.classes)
        for m in masses:
            h = tuple(m["votes"])
            if h != next(listed, None):
                raise Malformed(f"masses of {list(h)} are not where they belong")
            groups = m["groups"]
            counts: List[Optional[int]] = sorted(set(h), reverse=True)
            if self.abstain is not None:
                counts.append(None)
            if len(groups) != len(counts) or sum(groups) != _ONE or any(type(g) is not int or g < 0 for g in groups):
                raise Malformed(f"the groups of {list(h)} are not {len(counts)} whole numbers ≥ 0 of sum 2^53")
            self.histograms.append(h)
            self.first[h] = len(self.votes)
            self.votes += counts
            self.size += [h.count(v) if v is not None else 1 for v in counts]
            self.mass += groups
        if next(listed, None) is not None:
            raise Malformed("masses of some histograms are missing")

    def variable(self, h: Sequence[int], votes: Optional[int]) -> int:
        """The variable of the classes with so many votes, None for abstaining."""
        s = tuple(sorted(h, reverse=True))
        distinct = sorted(set(s), reverse=True)
        return self.first[s] + (len(distinct) if votes is None else distinct.index(votes))

    def columns(self, h: _Histogram, other: _Histogram) -> List[Tuple[int, int]]:
        """The variables of each answer in both histograms."""
        pairs: List[Tuple[Optional[int], Optional[int]]] = list(zip(h, other))
        if self.abstain is not None:
            pairs.append((None, None))
        return [(self.variable(h, a), self.variable(other, b)) for a, b in pairs]

    def weights(self) -> List[Fraction]:
        """How often each sorted histogram occurs."""
        counts = self.raw.get("prior_counts")
        if sum(bool(self.raw.get(name)) for name in ("accuracy", "concentration", "prior_counts")) != 1:
            raise Malformed("one of accuracy, concentration and prior_counts is needed")
        if counts:
            often = dict.fromkeys(self.histograms, Fraction(0))
            for c in counts:
                count = self.number(c["count"], "count")
                if count < 0:
                    raise Malformed("prior_counts: a count is below 0")
                often[tuple(sorted(c["votes"], reverse=True))] += count
            total = sum(often.values())
            if not total:
                raise Malformed("prior_counts are all 0")
            return [often[h] / total for h in self.histograms]
        if self.raw.get("concentration"):
            return self.uneven(self.number(self.raw["concentration"], "concentration"))
        mu = self.number(self.raw.get("accuracy"), "accuracy")
        if not Fraction(1, self.classes) < mu < 1:
            raise Malformed(f"accuracy = {float(mu)}, but it must be in (1/C,1)")
        wrong = (1 - mu) / (self.classes - 1)
        return [self.ways(h) * sum((mu**v * wrong ** (self.k - v) for v in h), Fraction(0)) / self.classes for h in self.histograms]

    def ways(self, h: _Histogram) -> int:
        """How many vectors of votes have this sorted histogram."""
        ways = math.factorial(self.classes) * math.factorial(self.k)
        for v in set(h):
            ways //= math.factorial(h.count(v))
        for v in h:
            ways //= math.factorial(v)
        return ways

    def uneven(self, a: Fraction) -> List[Fraction]:
        """The law of votes whose classes have Dirichlet-distributed shares with parameters a/C: each
        vote is for a class with probability (a/C + its votes so far)/(a + all votes so far)."""
        if not 0 < a <= 10**6:
            raise Malformed(f"concentration = {float(a)}, but it must be in (0,1e6]")
        law = []
        for h in self.histograms:
            p, before = Fraction(self.ways(h)), 0
            for v in h:
                for n in range(v):
                    p *= (a / self.classes + n) / (a + before)
                    before += 1
            law.append(p)
        return law

    def worth(self, weights: Sequence[Fraction]) -> List[Fraction]:
        """What a whole answer in each variable's group adds to the value."""
        worth = [Fraction(0)] * len(self.votes)
        for h, w in zip(self.histograms, weights):
            worth[self.first[h]] = w
            if self.abstain is not None:
                worth[self.variable(h, None)] = w * self.abstain
        return worth


def worst(t: Table, factor: Fraction) -> Tuple[Fraction, List[List[int]], int, Set[Tuple[int, int]]]:
    """By how much the worst constraint is broken, where, how many there are, and what they compare.

    That these pairs suffice: plurality_private in proofs/Plurality.v; that the walk over them misses
    none: partitions_all and vectors_all in proofs/ManyClasses.v.
    """
    best, where, visited = Fraction(-2), [[0]], 0
    rows: Set[Tuple[int, int]] = set()
    p = [Fraction(g, _ONE * m) for g, m in zip(t.mass, t.size)]
    excess: Dict[Tuple[int, int], Fraction] = {}
    for h in t.histograms:
        for other in neighbours(h, t.affected):
            spent = -t.delta
            for i, j in t.columns(h, other):
                if (i, j) not in excess:
                    excess[i, j] = p[i] - factor * p[j]
                over = excess[i, j]
                if t.delta:
                    spent += max(over, Fraction(0))
                else:
                    visited += 1
                    rows.add((i, j))
                    if over > best:
                        best, where = over, [list(h), list(other)]
            if t.delta:
                visited += 1
                if spent > best:
                    best, where = spent, [list(h), list(other)]
    return best, where, visited, rows


def bound(t: Table, worth: Sequence[Fraction], rows: Set[Tuple[int, int]], factor: Fraction) -> Fraction:
    """A number that no private mechanism's value exceeds, by weak duality: see plurality.UpperBound.

    Proved by machine: upper_bound in proofs/ManyVotes.v, many_optimal in proofs/ManyBound.v.
    """
    r = [w * m for w, m in zip(worth, t.size)]
    price = Fraction(0)

    def use(i: int, j: int, y: Fraction) -> None:
        if y < 0:
            raise Malformed("proof: a multiplier is below 0")
        r[i] -= y
        r[j] += factor * y

    for i, j, y in t.raw.get("proof", []):
        if (i, j) not in rows:
            raise Malformed(f"proof: {i} and {j} are no row of this table")
        use(i, j, Fraction(float(y)))
    for term in t.raw.get("proof_pairs", []):
        h = t.histograms[term["from"]]
        left, columns = list(h), []
        other: List[int] = []
        for votes, d, n in term["changes"]:
            if n < 1 or left.count(votes) < n or votes + d < 0:
                raise Malformed(f"proof_pairs: {term['changes']} leads nowhere from {list(h)}")
            for _ in range(n):
                left.remove(votes)
            other += [votes + d] * n
        moved = sum(abs(d) * n for _, d, n in term["changes"])
        other += left
        if sum(other) != t.k or not 0 < moved <= 2 * t.affected:
            raise Malformed(f"proof_pairs: {term['changes']} is no move of at most {t.affected} votes")
        for votes in sorted(set(left), reverse=True):
            columns.append((votes, votes, left.count(votes)))
        columns += [(votes, votes + d, n) for votes, d, n in term["changes"]]
        pairs = [(t.variable(h, a), t.variable(other, b), n) for a, b, n in columns]
        if t.abstain is not None:
            pairs.append((t.variable(h, None), t.variable(other, None), 1))
        values = [Fraction(float(y)) for y in term["values"]]
        if len(values) != len(pairs):
            raise Malformed("proof_pairs: one multiplier for each column is needed")
        for (i, j, _), y in zip(pairs, values):
            use(i, j, y)
        price += t.delta * max(y / n for (_, _, n), y in zip(pairs, values))
    total = price
    for h, first in t.first.items():
        end = first + len(set(h)) + (t.abstain is not None)
        total += max(r[i] / t.size[i] for i in range(first, end))
    return min(total, Fraction(1))
