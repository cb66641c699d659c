"""Tables for many answers for the second checker: see check.py.

Q answers drawn from one table are (ε, δ)-differentially private together if W_Q(e^ε) ≤ δ, where

    W_0(x) = (1 - x)₊,    W_n(x) = max over pairs of neighbours Σ_o P_o·W_{n-1}(x·P'_o/P_o),

P and P' being the answer's laws under two histograms of votes that at most t teachers lead from
one to the other, in either order. An answer o with P'_o = 0 adds its whole P_o. The adversary
knows all labels so far and picks the next pair.

Everything is worked out in integers. Each W_n is convex and falls. So a ratio between two points
of a lattice may be split into both, as long as P and P' keep their sums: that can only raise the
maximum. W is kept at the points e^ε·b^j, b = 1 + 1/n, in whole numbers of 2⁻⁹⁶ that are rounded up
after each answer. Beyond the points that are kept, W is taken as 1 below, and as its last value
above.

Few answers may be certified by another proof: each answer by itself is (ε₁, δ₁)-private, and Q such
answers are composed exactly (Kairouz, Oh and Viswanath, 2015, Theorem 3.3), with e₁ = e^ε₁:

    δ = 1 - (1-δ₁)^Q·(1 - Σ_l C(Q,l)·(e₁^l - E·e₁^(Q-l))₊/(1+e₁)^Q)

Symbols: K teachers, C classes, t affected, Q answers, E factor, P law, r ratio, b base.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from ._joined import Law, fewer, undominated
from ._plurality import Malformed, Table as _Classes, partitions

#: The most products of integers for a price, some three minutes.
MAX_WORK = 1_000_000_000
#: The most pairs of neighbours and histograms that are listed.
MAX_PAIRS, MAX_HISTOGRAMS = 1 << 20, 1 << 16
#: The most teachers of two classes, and classes.
MAX_TEACHERS, MAX_CLASSES = 1001, 200

#: The most answers that are composed by what each of them keeps.
MAX_COMPOSED = 300

_ONE = 2**53
_UNIT = 96  # W and masses are whole numbers of 2⁻⁹⁶
_FINE = 320  # bits to which the lattice's points are known

_Law = Dict[Tuple[int, ...], List[Fraction]]  # of a histogram: the probability of each class


def _around(counts: Tuple[int, ...], t: int, missing: bool, alike: bool = False) -> Iterator[Tuple[int, ...]]:
    """All other counts that at most t teachers lead to. Those who do not vote come last in counts. Where classes are alike
    and the counts sorted, one for each of its orders: of classes with equal counts the later one gets no more votes."""
    last = len(counts) - 1

    def visit(c: int, up: int, down: int, so_far: Tuple[int, ...]) -> Iterator[Tuple[int, ...]]:
        if c == last:
            d = down - up
            if counts[c] + d >= 0 and max(up + max(d, 0), down + max(-d, 0)) <= t and (missing or d == 0):
                if so_far + (counts[c] + d,) != counts:
                    yield so_far + (counts[c] + d,)
            return
        most = t - up
        if alike and c and counts[c] == counts[c - 1]:
            most = min(most, so_far[-1] - counts[c])
        for d in range(-min(counts[c], t - down), most + 1):
            yield from visit(c + 1, up + max(d, 0), down + max(-d, 0), (*so_far, counts[c] + d))

    return visit(0, 0, 0, ())


class Table:
    """The object of a file, checked for form."""

    abstain: Optional[Fraction] = None  # what no class is worth, where it is an answer
    _other: Tuple[str, ...] = ()  # fields that masses of this kind of table do not have

    def __init__(self, raw: Dict[str, Any], number: Callable[[Any, str], Fraction]) -> None:
        self._read(raw, number)
        if "abstain" in raw:
            self.abstain = number(raw["abstain"], "abstain")
            if not 0 <= self.abstain <= 1:
                raise Malformed("abstain is out of [0,1]")
        masses = raw.get("masses")
        if not isinstance(masses, list) or not masses:
            raise Malformed("there are no masses")
        listed = self._listed()
        for i, m in enumerate(masses):
            counts = self._counts(m)
            if counts != next(listed, None) or any(m.get(name) is not None for name in self._other):
                raise Malformed(f"masses[{i}] are not where they belong, of {list(counts)}")
            self.law[counts] = self._probabilities(counts, m["groups"])
        if next(listed, None) is not None:
            raise Malformed(f"masses of some histograms are missing: there are {len(self.law)}")

    def _read(self, raw: Dict[str, Any], number: Callable[[Any, str], Fraction]) -> None:
        """What is promised."""

        def whole(name: str, least: int, most: int) -> int:
            value = raw.get(name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise Malformed(f"{name} = {value!r}, but it must be a whole number from {least} to {most}")
            return value

        whole("format_version", 1, 1)
        self.raw, self.number = raw, number
        self.k, self.classes = whole("k", 1, MAX_TEACHERS), whole("classes", 2, MAX_CLASSES)
        self.affected, self.answers = whole("affected", 1, self.k), whole("answers", 1, 10**6)
        missing = raw.get("missing_votes")
        if not isinstance(missing, bool):
            raise Malformed("missing_votes must be true or false")
        self.missing = missing
        self.total, self.delta = number(raw.get("total_epsilon"), "total_epsilon"), number(raw.get("delta"), "delta")
        pure = raw.get("named") is True and self.classes > 2  # each answer then keeps total/answers
        if not 0 < self.total <= 700 or not 0 <= self.delta < 1 or (self.delta == 0 and not pure):
            raise Malformed("total_epsilon or delta is out of range")
        self.law: _Law = {}
        self._other = ("label", "votes" if self.classes == 2 else "lead")

    def _counts(self, m: Dict[str, Any]) -> Tuple[int, ...]:
        """What the law of an entry depends on: the lead of two classes, else the sorted votes."""
        if self.classes == 2:
            lead = m.get("lead")
            if isinstance(lead, bool) or not isinstance(lead, int) or not 0 <= lead <= self.k:
                raise Malformed(f"lead = {lead!r}, but it must be a whole number from 0 to {self.k}")
            if not self.missing and (self.k - lead) % 2:
                raise Malformed(f"lead = {lead}, but {self.k} votes have no such lead")
            return (lead,)
        votes = m.get("votes")
        if not isinstance(votes, list) or len(votes) != self.classes or any(type(v) is not int or v < 0 for v in votes):
            raise Malformed(f"votes = {votes!r}, but they must be {self.classes} whole numbers ≥ 0")
        if votes != sorted(votes, reverse=True) or sum(votes) > self.k or (not self.missing and sum(votes) != self.k):
            raise Malformed(f"votes = {votes} are not sorted, or not of {self.k} teachers")
        return tuple(votes)

    def _listed(self) -> Iterator[Tuple[int, ...]]:
        """What the law depends on, in the order of the file."""
        if self.classes == 2:
            return ((lead,) for lead in range(0 if self.missing else self.k % 2, self.k + 1, 1 if self.missing else 2))
        return (h for n in range(0 if self.missing else self.k, self.k + 1) for h in partitions(n, self.classes))

    def _probabilities(self, counts: Tuple[int, ...], groups: Any) -> List[Fraction]:
        """The probability of each class, then of no class where that is an answer."""
        votes = (counts[0], 0) if self.classes == 2 else counts
        distinct = sorted(set(votes), reverse=True)
        expected = len(distinct) + (self.abstain is not None)
        if not isinstance(groups, list) or len(groups) != expected or any(type(g) is not int or g < 0 for g in groups) or sum(groups) != _ONE:
            raise Malformed(f"the groups of {list(counts)} are not {expected} whole numbers ≥ 0 of sum 2^53")
        p = [Fraction(groups[distinct.index(v)], votes.count(v) * _ONE) for v in votes]
        if self.abstain is not None:
            p.append(Fraction(groups[-1], _ONE))
        return p

    def _of(self, votes: Sequence[int]) -> List[Fraction]:
        """The answer's law under these votes for each class, in their order."""
        if self.classes == 2:
            lead = votes[0] - votes[1]
            p = self.law[(abs(lead),)]
            return p if lead >= 0 else [p[1], p[0], *p[2:]]
        order = sorted(range(self.classes), key=lambda c: -votes[c])
        p = self.law[tuple(votes[c] for c in order)]
        named = [Fraction(0)] * self.classes
        for c, x in zip(order, p):
            named[c] = x
        return named + p[self.classes :]

    def _near(self) -> Iterator[Tuple[List[Fraction], List[Fraction]]]:
        """The laws under both votes of each ordered pair of neighbours, classes matched by name."""
        if self.classes == 2:
            # A vote that changes moves the lead by 2, one that comes or goes by 1. Leads of the other class are alike.
            for (a,) in self._listed():
                for b in range(max(-self.k, a - 2 * self.affected) if a else 1, min(self.k, a + 2 * self.affected) + 1):
                    if b != a and (self.missing or (b - a) % 2 == 0):
                        yield self._of((a, 0)), self._of((b, 0))
            return
        for h in self.law:
            for other in _around((*h, self.k - sum(h)), self.affected, self.missing, alike=True):
                yield self._of(h), self._of(other[:-1])

    def ratios(self) -> Tuple[Set[Tuple[Tuple[Fraction, Fraction], ...]], int]:
        """For each ordered pair the P of each ratio P'/P, without repetitions; and the pairs' number."""
        found: Set[Tuple[Tuple[Fraction, Fraction], ...]] = set()
        pairs = 0
        for p, other in self._near():
            pairs += 1
            if pairs > MAX_PAIRS:
                raise Malformed(f"more than {MAX_PAIRS} pairs of neighbours; use darrm verify")
            at: Dict[Fraction, Fraction] = {}
            for x, y in zip(p, other):
                if x:
                    at[y / x] = at.get(y / x, Fraction(0)) + x
            found.add(tuple(sorted(at.items())))
        return found, pairs

    def value(self) -> Optional[Fraction]:
        """How often the answer has the most votes under the prior, or None where the prior is of
        votes that may be missing."""
        if self.missing:
            return None
        raw = dict(self.raw)
        if self.classes == 2:  # as a table of classes names them
            raw["masses"] = [
                {"votes": [(self.k + m["lead"]) // 2, (self.k - m["lead"]) // 2], "groups": m["groups"]}
                for m in sorted(raw["masses"], key=lambda m: int(m["lead"]))
            ]
        t = _Classes(raw, self.number, MAX_HISTOGRAMS)
        worth = t.worth(t.weights())
        return sum((w * g for w, g in zip(worth, t.mass)), Fraction(0)) / _ONE


class ByName(Table):
    """A table that tells the classes apart: each order of the votes has masses of its own, of each class by itself."""

    def _read(self, raw: Dict[str, Any], number: Callable[[Any, str], Fraction]) -> None:
        super()._read(raw, number)
        if (self.missing and (self.classes > 2 or "labels" in raw)) or "abstain" in raw:
            raise Malformed("classes that are told apart go without abstentions, and without missing votes but of two classes")
        self._other = ("label", "votes" if self.missing else "lead")
        if math.comb(self.k + self.classes - 1, self.classes - 1) > MAX_PAIRS:
            raise Malformed(f"more than {MAX_PAIRS} histograms; use darrm verify")
        self.costs = None if raw.get("costs") is None else self._costs(raw["costs"])

    def _costs(self, rows: Any) -> List[List[Fraction]]:
        if not isinstance(rows, list) or [len(row) for row in rows] != [self.classes] * self.classes:
            raise Malformed(f"costs must be {self.classes} rows of so many numbers")
        return [[self.number(x, "costs") for x in row] for row in rows]

    def _counts(self, m: Dict[str, Any]) -> Tuple[int, ...]:
        if self.missing:  # the first class's lead, which alone decides
            lead = m.get("lead")
            if type(lead) is not int or abs(lead) > self.k:
                raise Malformed(f"lead = {lead!r}, but it must be a whole number from -{self.k} to {self.k}")
            return (lead,)
        votes = m.get("votes")
        if not isinstance(votes, list) or len(votes) != self.classes or any(type(v) is not int or v < 0 for v in votes) or sum(votes) != self.k:
            raise Malformed(f"votes = {votes!r}, but they must be {self.classes} whole numbers ≥ 0 of sum {self.k}")
        return tuple(votes)

    def _listed(self) -> Iterator[Tuple[int, ...]]:
        def of(votes: int, classes: int) -> Iterator[Tuple[int, ...]]:
            if classes == 1:
                yield (votes,)
                return
            for first in range(votes + 1):
                for rest in of(votes - first, classes - 1):
                    yield (first, *rest)

        return ((lead,) for lead in range(-self.k, self.k + 1)) if self.missing else of(self.k, self.classes)

    def _probabilities(self, counts: Tuple[int, ...], groups: Any) -> List[Fraction]:
        if not isinstance(groups, list) or len(groups) != self.classes or any(type(g) is not int or g < 0 for g in groups) or sum(groups) != _ONE:
            raise Malformed(f"the groups of {list(counts)} are not {self.classes} whole numbers ≥ 0 of sum 2^53")
        return [Fraction(g, _ONE) for g in groups]

    def _of(self, votes: Sequence[int]) -> List[Fraction]:
        return self.law[tuple(votes)]

    def _near(self) -> Iterator[Tuple[List[Fraction], List[Fraction]]]:
        if self.missing:
            for a, b in itertools.permutations(range(-self.k, self.k + 1), 2):
                if abs(a - b) <= 2 * self.affected:
                    yield self.law[(a,)], self.law[(b,)]
            return
        for h in self.law:
            for other in _around((*h, 0), self.affected, False):
                yield self._of(h), self._of(other[:-1])

    def _shares(self) -> List[Fraction]:
        """The share of each class, of sum 1."""
        stated = self.raw.get("shares") or [1] * self.classes
        shares = [self.number(x, "shares") for x in stated]
        if len(shares) != self.classes or min(shares) < 0 or not sum(shares):
            raise Malformed(f"shares must be {self.classes} numbers ≥ 0, not all 0")
        return [x / sum(shares) for x in shares]

    def _weight(self, shares: List[Fraction]) -> Callable[[Tuple[int, ...]], Fraction]:
        """How often votes come under the prior: of teachers that are right with probability accuracy, or of shares of
        the votes that have Dirichlet's law around those of the classes."""

        def ways(votes: Tuple[int, ...]) -> int:
            return math.factorial(self.k) // math.prod(math.factorial(v) for v in votes)

        if "concentration" in self.raw:
            a = self.number(self.raw["concentration"], "concentration")
            if a <= 0:
                raise Malformed("concentration must be above 0")

            def rising(x: Fraction, n: int) -> Fraction:
                return Fraction(1) if n == 0 else rising(x, n - 1) * (x + n - 1)

            def drawn(votes: Tuple[int, ...]) -> Fraction:
                product = ways(votes) / rising(a, self.k)
                for q, v in zip(shares, votes):
                    product *= rising(a * q, v)
                return product

            return drawn
        right = self.number(self.raw.get("accuracy"), "accuracy")
        if not 0 < right <= 1:
            raise Malformed("accuracy must be in (0,1]")
        wrong = (1 - right) / (self.classes - 1)
        return lambda votes: ways(votes) * sum((q * right**v * wrong ** (self.k - v) for q, v in zip(shares, votes)), Fraction(0))

    def _worth(self, votes: Tuple[int, ...], answer: int) -> Fraction:
        """1 or 0 by whether the answer has the most votes, or minus its least cost over the classes that have."""
        if self.costs is None:
            return Fraction(votes[answer] == max(votes))
        return -min(self.costs[answer][c] for c, v in enumerate(votes) if v == max(votes))

    def value(self) -> Optional[Fraction]:
        """What an answer is worth under the prior: agreement, or minus its expected cost. None where votes may be missing."""
        if self.missing:
            return None
        weight = self._weight(self._shares())
        return sum((weight(h) * sum((x * self._worth(h, c) for c, x in enumerate(p)), Fraction(0)) for h, p in self.law.items()), Fraction(0))


class EachLabel(ByName):
    """A table of a question's yes/no labels, each of which has masses of its own. An answer's laws under two votes are a
    pair of the label that it is of, so the price is that of the pairs of all labels together."""

    def _read(self, raw: Dict[str, Any], number: Callable[[Any, str], Fraction]) -> None:
        super()._read(raw, number)
        labels, yes = raw["labels"], raw.get("yes_shares")
        if isinstance(labels, bool) or not isinstance(labels, int) or not 2 <= labels <= 1000 or self.classes != 2:
            raise Malformed(f"labels = {labels!r}, but it must be a whole number from 2 to 1000, of two classes")
        if labels * (self.k + 1) > MAX_PAIRS:
            raise Malformed(f"more than {MAX_PAIRS} histograms; use darrm verify")
        if not isinstance(yes, list) or len(yes) != labels or "shares" in raw or "prior_counts" in raw:
            raise Malformed(f"yes_shares must be {labels} numbers, in the place of shares and counts")
        self._other = ("lead",)
        self.labels, self.yes = labels, [number(x, "yes_shares") for x in yes]
        if not 0 < min(self.yes) <= max(self.yes) < 1:
            raise Malformed("yes_shares are out of (0,1)")

    def _counts(self, m: Dict[str, Any]) -> Tuple[int, ...]:
        label = m.get("label")
        if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < self.labels:
            raise Malformed(f"label = {label!r}, but it must be a whole number below {self.labels}")
        return (label, *super()._counts(m))

    def _listed(self) -> Iterator[Tuple[int, ...]]:
        return ((label, *h) for label in range(self.labels) for h in ByName._listed(self))

    def _near(self) -> Iterator[Tuple[List[Fraction], List[Fraction]]]:
        for h, p in self.law.items():
            for other in _around((*h[1:], 0), self.affected, False):
                yield p, self.law[(h[0], *other[:-1])]

    def value(self) -> Optional[Fraction]:
        """The mean over the labels of what an answer is worth."""
        weights = [self._weight([1 - q, q]) for q in self.yes]
        return sum(
            (weights[h[0]](h[1:]) * sum((x * self._worth(h[1:], c) for c, x in enumerate(p)), Fraction(0)) for h, p in self.law.items()),
            Fraction(0),
        ) / self.labels


def table_of(raw: Dict[str, Any], number: Callable[[Any, str], Fraction]) -> Table:
    """The table of a file, whose classes may be told apart."""
    named = raw.get("named", False)
    if not isinstance(named, bool):
        raise Malformed(f"named = {named!r}, but it must be true or false")
    if "labels" in raw:
        if not named:
            raise Malformed("labels have masses of their own where the classes are told apart")
        return EachLabel(raw, number)
    return ByName(raw, number) if named else Table(raw, number)


def composed(t: Table, factor: Fraction, exp: Callable[[Fraction, bool], Fraction]) -> Tuple[Fraction, int]:
    """price by what each answer keeps: 1 where it does not."""
    epsilon, delta = t.number(t.raw["price"].get("each_epsilon"), "each_epsilon"), t.number(t.raw["price"].get("each_delta", 0), "each_delta")
    if not 0 < epsilon <= 700 or not 0 <= delta < 1:
        raise Malformed("each_epsilon or each_delta is out of range")
    law = t.raw.get("law", {})
    if law.get("name") == "one" and (t.number(law.get("epsilon"), "epsilon"), t.number(law.get("delta", 0), "delta")) != (epsilon, delta):
        raise Malformed("the law's epsilon and delta are not those that the price states of each answer")
    if t.answers > MAX_COMPOSED:
        raise Malformed(f"more than {MAX_COMPOSED} answers are composed; use darrm verify")
    low, high = exp(epsilon, False), exp(epsilon, True)
    ratios, pairs = t.ratios()
    if any(sum((p * max(Fraction(0), 1 - low * r) for r, p in law), Fraction(0)) > delta for law in ratios):
        return Fraction(1), pairs
    q = t.answers
    # Where l·ε₁ is at most ε + (Q-l)·ε₁ there is no loss; that is decided before e^ε is rounded.
    lost = [
        math.comb(q, n) * (high**n - factor * low ** (q - n)) for n in range(q + 1) if (2 * n - q) * epsilon > t.total
    ]
    share = sum(lost, Fraction(0)) / (1 + low) ** q
    return min(Fraction(1), 1 - (1 - delta) ** q * (1 - share)), pairs


class _Lattice:
    """The points b^j, b = 1 + 1/n, known to _FINE bits from below and above."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.step = math.log1p(1 / n)
        self.points: Dict[int, Tuple[Fraction, Fraction]] = {0: (Fraction(1), Fraction(1))}

    def point(self, j: int) -> Tuple[Fraction, Fraction]:
        """Bounds of b^j."""
        if j not in self.points:
            exact = Fraction(self.n + 1, self.n) ** j
            fine = max(_FINE, _FINE + exact.denominator.bit_length() - exact.numerator.bit_length())
            low = Fraction((exact.numerator << fine) // exact.denominator, 1 << fine)
            self.points[j] = (low, low + Fraction(1, 1 << fine))
        return self.points[j]

    def split(self, mass: Fraction, r: Fraction) -> List[Tuple[int, int]]:
        """A mass at ratio r > 0 as whole masses at the two points around it, the dearer way."""
        j = math.floor((math.log(r.numerator) - math.log(r.denominator)) / self.step)
        while self.point(j)[1] > r:
            j -= 1
        while self.point(j + 1)[0] <= r and self.point(j + 1)[1] <= r:
            j += 1
        total = math.ceil(mass * 2**_UNIT)
        # mass·(b^(j+1) - r)/(b^(j+1) - b^j) at b^j, the smaller ratio, where W is larger: rounded up.
        low = mass * self.n * (Fraction(self.n + 1, self.n) - r / self.point(j)[1])
        at_low = min(total, max(0, math.ceil(low * 2**_UNIT)))
        return [(j, at_low), (j + 1, total - at_low)]


def price(t: Table, factor: Fraction, enough: Fraction) -> Tuple[Fraction, int]:
    """A δ such that all answers are (ln factor, δ)-differentially private, and the number of pairs.

    factor is at most e^ε. The true δ is no larger than what is returned. The lattice is made finer
    until that is enough, as far as MAX_WORK allows.
    """
    ratios, pairs = t.ratios()
    step = t.raw.get("price", {}).get("step")
    step = float(step) if step and 0 < float(step) <= 1 else 0.1
    best, whole, known = Fraction(1), False, False
    for fineness, work in ((0.8, MAX_WORK // 16), (0.8, MAX_WORK), (0.4, MAX_WORK), (0.2, MAX_WORK)):
        if known and best <= enough or fineness == 0.8 and whole:
            continue
        found = _price(t, ratios, factor, fineness * step, work)
        if found:
            best, whole, known = min(best, found[0]), found[1], True
    if not known:
        raise Malformed(f"its price takes more than {MAX_WORK:.0g} products; use darrm verify")
    if best > enough and not whole:
        raise Malformed(
            f"its price is at most {float(best):.3g}, which is not enough, but within {MAX_WORK:.0g} products {len(ratios)} laws are "
            "joined to fewer, which makes it dearer; use darrm verify"
        )
    return best, pairs


def _price(t: Table, ratios: Set[Tuple[Tuple[Fraction, Fraction], ...]], factor: Fraction, step: float, work: int) -> Optional[Tuple[Fraction, bool]]:
    """price on a lattice of so many scales of one answer's loss, and whether it is that of all laws, none of them joined. None
    where that takes more products than work."""
    scale = max(2 * math.sqrt(sum(float(p) * (1 - math.sqrt(float(r))) ** 2 for r, p in law)) for law in ratios)
    lattice = _Lattice(max(1, math.ceil(1 / (step * max(scale, 1e-4)))))
    reach = math.ceil((9 * scale * math.sqrt(t.answers) + 1) / lattice.step)
    # Before the points are worked out, of which a file may ask for any number: a law has an atom and more.
    most = max((abs(math.log(r.numerator) - math.log(r.denominator)) for law in ratios for r, _ in law if r), default=0.0)
    if (2 * min(reach, most / lattice.step * t.answers) + 1) * t.answers > work:
        return None
    laws: List[Law] = []
    for law in ratios:
        masses: Dict[int, int] = {}
        certain = 0
        for r, p in law:
            if not r:
                certain += math.ceil(p * 2**_UNIT)
                continue
            for j, m in lattice.split(p, r):
                masses[j] = masses.get(j, 0) + m
        laws.append((sorted((j, m) for j, m in masses.items() if m), certain))
    laws = undominated(laws, lattice.n)
    far = max((abs(j) for masses, _ in laws for j, _ in masses), default=0)
    reach = min(reach, far * t.answers)
    atoms = work // ((2 * reach + 1) * t.answers)
    if atoms < 2 * far + 1 and atoms < sum(len(masses) for masses, _ in laws):
        return None
    few = fewer(laws, lattice.n, atoms)
    delta = _play([(m, certain << _UNIT) for m, certain in few], _start(lattice, factor, reach), reach, far, t.answers)
    return Fraction(delta, 2**_UNIT), len(few) == len(laws)


def _start(lattice: _Lattice, factor: Fraction, reach: int) -> List[int]:
    """W_0 at the points -reach … reach."""
    return [max(0, math.ceil((1 - factor * lattice.point(j)[0]) * 2**_UNIT)) for j in range(-reach, reach + 1)]


def _play(laws: List[Tuple[List[Tuple[int, int]], int]], w: List[int], reach: int, far: int, answers: int) -> int:
    """W_Q at point 0. The points that later answers do not reach are left out."""
    one, size = 2**_UNIT, 2 * reach + 1
    for n in range(answers):
        most = min(reach, far * (answers - 1 - n))  # what counts afterwards
        padded = [one] * far + w + [w[-1]] * far
        best = [0] * (2 * most + 1)
        for masses, certain in laws:
            row = [certain] * (2 * most + 1)
            for j, m in masses:
                first = far + (size // 2) - most + j
                row = [x + m * y for x, y in zip(row, padded[first : first + 2 * most + 1])]
            best = [max(x, y) for x, y in zip(best, row)]
        w = [min(one, -(-x >> _UNIT)) for x in best]
        size = len(w)
    return w[size // 2]
