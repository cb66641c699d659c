"""Noise that is priced by its label, for the second checker: see check.py.

Each count n_c gets Y_c, a discrete normal number: Pr[Y = y] ∝ e^(-y²/(2σ²)). The label is the class of the
largest sum, and of equal ones each is as likely, as if a uniform number of [0, 1) were added to each:

    Pr[c] = Σ_y p(y-n_c)·∫₀¹ Π_{d≠c} (F(y-n_d-1) + u·p(y-n_d)) du

This lists all histograms with the probabilities of their labels, and prices them as a table for many answers
(_answers.py). It knows neither of the reduction to three outcomes nor of the plane on which the program prices,
and serves fewer teachers and classes: up to MAX_TERMS terms of such sums.

The integral of a polynomial in u is a sum of Gauss and Legendre. Everything is positive, so that floats are
off by a few units of their last digit in each step: a probability by at most the factor e^±``slack``. Two laws
that are so near to others are (ε, δ)-DP in Q answers where those are (ε - 2·Q·slack, δ·e^(-Q·slack))-DP.
Probabilities below 10⁻²⁹⁰ are left out, which δ ≥ 10⁻¹⁰⁰ does not notice.

Symbols: K teachers, C classes, Q answers, σ sigma, p mass, F below, u node.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ._answers import MAX_CLASSES, MAX_HISTOGRAMS, Table
from ._plurality import Malformed, partitions

#: The most terms of sums that are worked out, some minutes.
MAX_TERMS = 300_000_000

#: So many σ beyond the votes, nothing is left: e^(-15²/2) < 10⁻⁴⁸ of a sum.
_FAR = 15


def _nodes(n: int) -> List[Tuple[float, float]]:
    """The nodes and weights of [0, 1] by which polynomials below degree 2n are integrated."""
    found = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        slope = 1.0
        for _ in range(100):
            before, value = 1.0, x
            for k in range(2, n + 1):
                before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
            slope = n * (x * value - before) / (x * x - 1)
            step = value / slope
            x -= step
            if abs(step) < 1e-15:
                break
        found.append(((1 + x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return found


class Noise(Table):
    """The object of a file, with the laws of all its histograms."""

    def __init__(self, raw: Dict[str, Any], number: Callable[[Any, str], Fraction]) -> None:
        self._read(raw, number)
        if raw.get("noise") != "discrete-gaussian":
            raise Malformed('noise must be "discrete-gaussian"')
        sigma = number(raw.get("sigma"), "sigma")
        if not Fraction(1, 20) <= sigma <= 2**14:
            raise Malformed("sigma is out of [0.05, 16384]")
        if self.classes > 2 and self.affected > 1:
            raise Malformed("of more than two classes one record changes one vote")
        if self.delta < Fraction(1, 10**100):
            raise Malformed("delta is below 1e-100; use darrm verify")
        self.sigma = float(sigma)
        self.nodes = _nodes(-(-self.classes // 2))
        self.reach = self.k + math.ceil(_FAR * self.sigma) + 1
        # Sums of so many floats, in products of C; and the class that has what is left of 1 is off by all others.
        self.slack = self.classes * (self.classes + 4) * (2 * self.reach + 3000) * 2.0**-52
        votes = list(self._votes())
        terms = sum(len(set(v)) for v in votes) * len(self.nodes) * (2 * self.reach + 1)
        if terms > MAX_TERMS:
            raise Malformed(f"its probabilities are sums of more than {MAX_TERMS:.0g} terms; use darrm verify")
        self._tabulate()
        for v in votes:
            self.law[(v[0] - v[1],) if self.classes == 2 else v] = self._label(v)

    def _votes(self) -> Iterator[Tuple[int, ...]]:
        """A histogram of each kind that has a law of its own; of two classes the leads."""
        if self.classes == 2:
            for lead in range(self.k + 1):
                if self.missing or (self.k - lead) % 2 == 0:
                    yield lead, 0
            return
        if self.classes > MAX_CLASSES:
            raise Malformed("too many classes")
        count = 0
        for n in range(0 if self.missing else self.k, self.k + 1):
            for h in partitions(n, self.classes):
                count += 1
                if count > MAX_HISTOGRAMS:
                    raise Malformed(f"more than {MAX_HISTOGRAMS} histograms; use darrm verify")
                yield tuple(sorted(h, reverse=True))

    def _tabulate(self) -> None:
        """p(z), and F(z-1) + u·p(z) at each node u, for |z| ≤ reach."""
        mass = [math.exp(-float(z * z) / (2 * self.sigma * self.sigma)) for z in range(-self.reach, self.reach + 1)]
        total = math.fsum(mass)
        self.mass = [m / total for m in mass]
        below = [0.0, *accumulate(self.mass)]
        self.partly = [[f + u * p for f, p in zip(below, self.mass)] for u, _ in self.nodes]

    def _label(self, votes: Tuple[int, ...]) -> List[Fraction]:
        """The probability of each class as the label."""
        top, far = max(votes), math.ceil(_FAR * self.sigma)
        first, end = -far, top + far + 1  # of y
        distinct = sorted(set(votes), reverse=True)

        def seen(values: List[float], n: int) -> List[float]:
            """values at y - n for each y; y - n is within the reach."""
            return values[first - n + self.reach : end - n + self.reach]

        wins = {n: 0.0 for n in distinct}
        for (_, weight), partly in zip(self.nodes, self.partly):
            factors = {n: seen(partly, n) for n in distinct}
            for n in distinct:
                terms = seen(self.mass, n)
                for other in distinct:
                    times = votes.count(other) - (other == n)
                    if times:
                        terms = [x * f**times for x, f in zip(terms, factors[other])]
                wins[n] += weight * math.fsum(terms)
        p = [Fraction(wins[n]) if wins[n] >= 1e-290 else Fraction(0) for n in votes]
        # Of equal votes all have the same, so that classes may be told apart in any order.
        most = votes.count(top)
        rest = 1 - sum((x for x, n in zip(p, votes) if n != top), Fraction(0))
        if abs(rest / most - p[0]) > self.slack * p[0]:
            raise Malformed("its probabilities do not add up")  # which cannot be
        return [rest / most if n == top else x for x, n in zip(p, votes)]
