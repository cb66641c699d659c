"""Fewer pairs of laws in the place of many, for the second checker's price of many answers: see _answers.py.

A law of a lattice has masses m_k at the ratios b^k, b = 1 + 1/n, and what only one of two histograms has. W is convex and falls
from 1 to 0, so it is a mixture of (1 - a·x)₊, a ≥ 0, and a law is worth to an adversary the same mixture of its curve

    c(x) = certain + Σ_k m_k·(1 - x·b^k)₊

at a·x. So a law whose curve is nowhere below those of others is worth no less than any of them. Between neighbouring
points b^-j every curve is a line, and so it is from the last of them to x = 0. So the largest curve of some laws is bounded
there alone: ``joined`` finds the masses of such a law, which are of sum 1 or a little more, and ``undominated`` leaves out laws
whose curve is nowhere above another's.

All numbers are whole, of one unit. Each curve is rounded up and each mass is.

Symbols: n of the lattice, M mass, A the sum of the masses so far, B = Σ_k m_k·b^(k-j) of these.
"""

from __future__ import annotations

import math
from operator import ge
from typing import List, Sequence, Tuple

#: Masses at the exponents of ratios, ascending, and the mass that one histogram alone has.
Law = Tuple[List[Tuple[int, int]], int]


#: So many laws are compared with all others.
_COMPARED = 256


def _range(laws: Sequence[Law]) -> Tuple[int, int]:
    """The first exponent of a ratio, and the one after the last."""
    first = min((masses[0][0] for masses, _ in laws if masses), default=0)
    return first, max((masses[-1][0] + 1 for masses, _ in laws if masses), default=0)


def curve(law: Law, n: int, first: int, end: int) -> List[int]:
    """c at b^-j for j = first … end-1, then at 0, above the truth by less than a unit for each of these."""
    masses, certain = law
    at = dict(masses)
    a = b = 0
    values = []
    for j in range(first, end):
        values.append(certain + a - b)
        m = at.get(j, 0)
        a, b = a + m, (b + m) * n // (n + 1)
    return values + [certain + a]


def undominated(laws: Sequence[Law], n: int) -> List[Law]:
    """Laws of which one is worth no less than any of these: those whose curve is above those of the dearest somewhere. What
    rounding may hide in a comparison is added to what one histogram alone has."""
    first, end = _range(laws)
    step = math.log1p(1 / n)
    kept: List[Law] = []
    curves: List[List[int]] = []
    for law in sorted(laws, key=lambda law: -divergence(law, step)):
        of = curve(law, n, first, end)
        if any(all(map(ge, other, of)) for other in curves):
            continue
        kept.append((law[0], law[1] + end - first))
        if len(curves) < _COMPARED:
            curves.append(of)
    return kept


def joined(laws: Sequence[Law], n: int) -> Law:
    """A law that is worth no less to an adversary than any of these."""
    first, end = _range(laws)
    most = [0] * (end - first + 1)  # the largest curve
    for law in laws:
        most = [max(x, y) for x, y in zip(most, curve(law, n, first, end))]
    certain, a, b, masses = most[0], 0, 0, []
    for j in range(first, end):
        if j + 1 < end:  # with M at b^j the curve is certain + A + M - (B + M)/b at b^-(j+1)
            m = max(0, (most[j + 1 - first] - certain - a) * (n + 1) + b * n)
        else:
            m = max(0, most[-1] - certain - a)
        if m:
            masses.append((j, m))
        a, b = a + m, -(-(b + m) * n // (n + 1))
    return masses, certain


def divergence(law: Law, step: float) -> float:
    """About the moment of order 8 of a law's ratios: the laws where it is large are the dear ones."""
    masses, certain = law
    return certain * 1e30 + sum(m * math.exp(min(600.0, -7 * step * j)) for j, m in masses)


def skewness(law: Law, step: float) -> float:
    """About to which side a law's ratios are far from 1."""
    return sum(m * (step * j) ** 3 for j, m in law[0])


def fewer(laws: List[Law], n: int, atoms: int) -> List[Law]:
    """Laws of at most so many atoms, of which one is worth no less than any of these undominated ones: the dearest as they are, and the
    others joined in up to 16 groups by their skewness. atoms is at least what one law has that all are joined in."""
    if sum(len(masses) for masses, _ in laws) <= atoms:
        return laws
    step = math.log1p(1 / n)
    first, end = _range(laws)
    wide = end - first
    groups = max(1, min(16, atoms // (2 * wide)))
    left = atoms - groups * wide
    kept = 0  # the dearest come first
    while left >= len(laws[kept][0]):
        left -= len(laws[kept][0])
        kept += 1
    rest = sorted(laws[kept:], key=lambda law: skewness(law, step))
    size = -(-len(rest) // groups)
    return laws[:kept] + [joined(rest[i : i + size], n) for i in range(0, len(rest), size)]
