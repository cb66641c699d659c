"""A second checker of solved tables, which shares no code with the program.

    python3 -m darrm.check table.json [--json]

It decides two questions about the table that ``darrm solve --out`` wrote:

private   Is the released majority (ε, δ)-differentially private, as the table says?
optimal   Is its error as near to the least possible as the table says?

It needs nothing but Python's standard library and does all arithmetic on integers and
fractions. It visits every constraint, one by one, so it serves K ≤ 15 (K ≤ 21 where the
teachers' Δ is 0) in about a minute. ``darrm verify`` does the same for any K.

The rule that it checks, of S. Jiang, Communication Efficient and Differentially Private
Optimization (2025), Lemma 3.4.4: with L the number of teachers that answer 1,
φ(l) = sign(l - K/2)·γ(l), γ in [-1, 1], and Φ(p) = E[φ(L)] for teachers that answer 1 with probabilities p,

    Φ(p) - E·Φ(p') ≤ E - 1 + 2δ,    E = e^(the release's ε),

for every p and p' in which each teacher is at one of the corners of what (ε, Δ)-differential
privacy allows:

    (0,0) (1,1) (Δ,0) (0,Δ) (1,1-Δ) (1-Δ,1) (a,b) (b,a),    a = (e^ε+Δ)/(e^ε+1),  b = 1 - a.

The left side is affine in each teacher's pair, so these are enough. At most ``affected``
teachers have p ≠ p'; the others are at (0,0) or (1,1). Of a γ that treats the labels by their names (shape
"by-name"), which need not be the same from both ends and has label 1's sign at a tie, -Φ keeps the same.

Where the answers of all teachers that a record reaches may be published under the promise,

    t·ε ≤ the release's ε  and  1-(1-Δ)^t ≤ δ,    t = affected,

the majority is computed from what is private already, and every γ is private (Kairouz, Oh and
Viswanath, The Composition Theorem for Differential Privacy, 2015, Theorem 3.3). Some constraints
are then identities in e^ε, which no rounding of e^ε decides, so this is checked first.

Tables of many classes are checked by their own rule, which _plurality.py states: up to 20,000
sorted histograms and 200 classes. Tables for many answers are priced anew, which _answers.py
explains, in minutes at most, also those that tell the classes apart: pairs that are too many are joined (_joined.py). How near they are to the best table is not checked here. So is noise that is
priced by its label, over all histograms, of few teachers or classes: see _noise.py.

Every rounding is to the private side. The teachers' e^ε is rounded up: they may leak a little
more than they do. The release's e^ε is rounded down: it must keep a little more than it says.

Symbols: K teachers, γ gamma, φ phi, ε epsilon, Δ teacher_delta, δ delta, E release_factor.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from fractions import Fraction
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _answers, _noise, _plurality

__all__ = ["CheckError", "Verdict", "check", "main"]

#: The largest K for Δ > 0 and for Δ = 0.
MAX_TEACHERS = (15, 21)

#: Digits to which e^ε is worked out: far beyond the 17 of a float.
_DIGITS = 60


class CheckError(Exception):
    """The file is no table that can be checked; the text says why."""


class Verdict:
    """What was found about one table.

    Attributes:
        private: whether every constraint holds.
        method: "sweep" of every constraint, "post-processing", where all of them are known to hold, or
            "game", the price of many answers over every pair of neighbours.
        excess: the largest left side minus the right side, as a float; private means ≤ 0. By
            post-processing 0, which it is at most. Of many answers the price minus the stated one.
        worst: the corners of the worst constraint, as counts of teachers in the table's order; of
            many classes the votes of the two histograms. Empty for post-processing.
        constraints: how many constraints there are.
        optimal: whether the gap is at most the stated one; of many answers None, since that is not
            checked here, or False where the table claims more agreement than it has.
        error: the table's error, worked out here; of many classes 1 - value, where costs are values below 0.
        gap: how far at most the error is from the least possible, as a float; of many answers 1.
    """

    def __init__(
        self, private: bool, method: str, excess: float, worst: List[Any], constraints: int, optimal: Optional[bool], error: float, gap: float
    ) -> None:
        self.private = private
        self.method = method
        self.excess = excess
        self.worst = worst
        self.constraints = constraints
        self.optimal = optimal
        self.error = error
        self.gap = gap


def _decimal(number: Any, name: str) -> Fraction:
    """The exact value of the decimal that a JSON file shows."""
    if isinstance(number, bool) or not isinstance(number, (int, Fraction)):
        raise CheckError(f"{name} = {number!r}, but it must be a number")
    return Fraction(number)


def _exp(x: Fraction, up: bool) -> Fraction:
    """e^x for a fraction x ≥ 0, rounded up or down to _DIGITS digits after the point."""
    halvings = 0
    while x > 1:
        x, halvings = x / 2, halvings + 1
    scale = 10 ** (_DIGITS + 20 + 2 * halvings)
    # Σ x^i/i! in integers: low is rounded down at each step; what was rounded off and the
    # rest of the series are added to high.
    term, low, steps = scale, 0, 0
    while term:
        low += term
        steps += 1
        term = term * x.numerator // (x.denominator * steps)
    below, above = Fraction(low, scale), Fraction(low + 4 * steps, scale)
    for _ in range(halvings):
        below, above = below * below, above * above
    unit = 10**_DIGITS
    return Fraction(math.ceil(above * unit), unit) if up else Fraction(math.floor(below * unit), unit)


#: What a teacher answers 1 with, beside and without a record.
_Pair = Tuple[Union[int, Fraction], Union[int, Fraction]]


class _Table:
    """A table file, read and checked for form."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        def field(name: str) -> Any:
            if name not in raw:
                raise CheckError(f"{name} is missing")
            return raw[name]

        def whole(name: str, least: int, most: int) -> int:
            value = field(name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise CheckError(f"{name} = {value!r}, but it must be a whole number from {least} to {most}")
            return value

        if not isinstance(raw, dict):
            raise CheckError("not an object")
        whole("format_version", 1, 1)
        self.k = whole("k", 1, 10**6)
        self.affected = whole("affected", 1, self.k)
        self.endless = field("epsilon") == "inf"
        self.epsilon = Fraction(0) if self.endless else _decimal(raw["epsilon"], "epsilon")  # endless: not used
        self.teacher_delta = _decimal(field("teacher_delta"), "teacher_delta")
        self.delta = _decimal(field("delta"), "delta")
        if raw.get("total_epsilon") and raw.get("m"):
            raise CheckError("m and total_epsilon exclude each other")
        if sum(bool(raw.get(name)) for name in ("prior_mean", "prior_counts", "worst_case")) > 1:
            raise CheckError("prior_mean, prior_counts and worst_case exclude each other")
        if "total_epsilon" in raw:
            self.total = _decimal(raw["total_epsilon"], "total_epsilon")
        elif self.endless:
            raise CheckError('total_epsilon is missing, but epsilon = "inf" needs it')
        else:
            self.total = _decimal(field("m"), "m") * self.epsilon
        for name, value in (("teacher_delta", self.teacher_delta), ("delta", self.delta)):
            if not 0 <= value < 1:
                raise CheckError(f"{name} = {float(value)}, but it must be in [0,1)")
        if not 0 < self.total <= 700 or not (self.endless or 0 <= self.epsilon <= 700):
            raise CheckError("an epsilon is outside the range from 0 to 700")
        if self.endless and self.teacher_delta:
            raise CheckError('teacher_delta must be 0 where epsilon = "inf"')
        most = MAX_TEACHERS[self.teacher_delta == 0]
        if self.k > most:
            raise CheckError(f"k = {self.k}, but one by one this checks at most {most} teachers with such a teacher_delta; use darrm verify")
        self.gamma = [_decimal(g, "gamma") for g in field("gamma")]
        if len(self.gamma) != self.k + 1:
            raise CheckError(f"gamma has {len(self.gamma)} values, but k = {self.k} needs {self.k + 1}")
        self.shape = field("shape")
        if self.shape not in ("any", "free", "monotone", "by-name"):
            raise CheckError(f'shape = {self.shape!r}, but it must be "any", "free", "monotone" or "by-name"')
        self.by_name = self.shape == "by-name"
        tie = self.k // 2 if self.k % 2 == 0 else None
        #: Whether both labels are treated alike. Then the constraints of one are those of the other.
        self.alike = self.gamma == self.gamma[::-1] and (tie is None or self.gamma[tie] == 0)
        if not self.alike and not self.by_name or not all(-1 <= value <= 1 for value in self.gamma):
            raise CheckError("gamma must be the same from both ends, with values in [-1,1]")
        if self.by_name and not raw.get("prior_counts"):
            raise CheckError('shape = "by-name" needs prior_counts')
        costs = raw.get("costs", [1, 1])
        if "costs" in raw and (not self.by_name or not isinstance(costs, list) or len(costs) != 2):
            raise CheckError('costs must be two numbers, of shape "by-name"')
        #: Of answering 0 where 1 has more votes, and of answering 1 where 0 has.
        self.costs = [_decimal(cost, "costs") for cost in costs]
        if min(self.costs) < 0 or not sum(self.costs):
            raise CheckError("costs must be ≥ 0 and not all 0")
        #: How many values of γ, from the first on, the shape leaves free.
        self.free = self.k + 1 if self.by_name else (self.k + 1) // 2
        if self.shape not in ("any", "by-name") and min(self.gamma) < 0:
            raise CheckError(f'gamma is below 0 somewhere, but shape = "{self.shape}"')
        free = self.gamma[: (self.k + 1) // 2]
        if self.shape == "monotone" and any(x < y for x, y in zip(free, free[1:])):
            raise CheckError('gamma increases towards the middle, but shape = "monotone"')
        self.raw = raw

    def post_processing(self) -> bool:
        """Whether all that one record reaches may be published: then every γ is private."""
        t = self.affected
        return not self.endless and t * self.epsilon <= self.total and 1 - (1 - self.teacher_delta) ** t <= self.delta

    def constraints(self) -> int:
        """The number of multisets of corners: n moved ones of 6 kinds, or 2 where Δ = 0, and the others."""
        kinds = 6 if self.teacher_delta else 2
        each = sum(math.comb(n + kinds - 1, n) * (self.k - n + 1) for n in range(self.affected + 1))
        return each if self.alike else 2 * each

    def phi(self) -> Tuple[List[int], int]:
        """φ(0) … φ(K) as integers, and the integer that stands for 1."""
        # γ is a float64 in [-1,1]: its exact value, not that of its decimal, is what is drawn.
        one = 2**53
        values = []
        for l, g in enumerate(self.gamma):
            exact = Fraction(float(g)) * one
            if exact.denominator != 1:
                raise CheckError(f"gamma({l}) is no multiple of 2⁻⁵³")
            values.append(int(exact) if 2 * l >= self.k else -int(exact))
        return values, one

    def corners(self, up: bool) -> "List[Optional[_Pair]]":
        """The pairs (p, p') in the order of the table's proof, None where Δ = 0 leaves one out.

        e^ε is rounded up for privacy: no teacher that keeps its promise is beyond these corners. It is
        rounded down for optimality: each of these corners is a teacher that keeps its promise.
        """
        d = self.teacher_delta
        if self.endless:
            a = Fraction(1)
        else:
            x = _exp(self.epsilon, up=up)
            a = (x + d) / (x + 1)
        near: List[Optional[_Pair]] = [(d, 0), (0, d), (1, 1 - d), (1 - d, 1)] if d else [None] * 4
        return [(0, 0), (1, 1), *near, (a, 1 - a), (1 - a, a)]

    def weights(self) -> Optional[List[Fraction]]:
        """What each free γ(l) is worth in the objective; None for the worst case."""
        k, free = self.k, self.free
        if self.raw.get("worst_case"):
            return None
        counts = self.raw.get("prior_counts")
        if counts:
            counts = [_decimal(c, "prior_counts") for c in counts]
            if len(counts) != k + 1 or min(counts) < 0 or not sum(counts):
                raise CheckError("prior_counts must be K+1 numbers ≥ 0 that are not all 0")
            if self.by_name:
                cost = [self.costs[1] if 2 * l < k else self.costs[0] if 2 * l > k else 0 for l in range(free)]
                return [cost[l] * counts[l] / (2 * sum(counts)) for l in range(free)]
            return [(counts[l] + counts[k - l]) / (2 * sum(counts)) for l in range(free)]
        mean = _decimal(self.raw.get("prior_mean"), "prior_mean")
        if not Fraction(1, 2) < mean < 1:
            raise CheckError(f"prior_mean = {float(mean)}, but it must be in (0.5,1)")
        b = [math.comb(k, l) * mean**l * (1 - mean) ** (k - l) for l in range(k + 1)]
        return [(b[k - l] - b[l]) / 2 for l in range(free)]


def _worst(table: _Table, corners: Sequence[Optional[_Pair]], factor: Fraction) -> Tuple[Fraction, List[int], int]:
    """The largest Φ(p) - factor·Φ(p') over all multisets, its corners, and their number.

    A multiset's value comes from that of one teacher fewer: with one more teacher at
    probability p, ψ(l) becomes (1-p)·ψ(l) + p·ψ(l+1). Each corner's probabilities are brought
    to one denominator, so a step is two products of integers.
    """
    phi, one = table.phi()
    used = [(i, c) for i, c in enumerate(corners) if c is not None]
    steps = []
    for i, pair in used:
        p, q = Fraction(pair[0]), Fraction(pair[1])
        d = math.lcm(p.denominator, q.denominator)
        steps.append((i, int(p * d), int(q * d), d, pair[0] != pair[1]))
    # The corners with the largest denominators come last: the integers stay short for long.
    steps.sort(key=lambda s: s[3])
    best: Optional[Fraction] = None
    worst: List[int] = []
    counts, visited = [0] * len(corners), 0
    top, bottom = factor.numerator, factor.denominator

    def visit(first: int, left: int, movable: int, u: List[int], v: List[int], scale: int) -> None:
        nonlocal visited, best, worst
        if not left:
            visited += 1
            value = Fraction(bottom * u[0] - top * v[0], bottom * scale)
            if best is None or value > best:
                best, worst = value, counts[:]
            return
        for j in range(first, len(steps)):
            i, p, q, d, moves = steps[j]
            if moves and not movable:
                continue
            counts[i] += 1
            visit(
                j, left - 1, movable - moves,
                [(d - p) * x + p * y for x, y in zip(u, u[1:])],
                [(d - q) * x + q * y for x, y in zip(v, v[1:])],
                scale * d,
            )
            counts[i] -= 1

    visit(0, table.k, table.affected, phi, phi, one)
    if not table.alike:
        other = [-x for x in phi]
        visit(0, table.k, table.affected, other, other, one)
    assert best is not None  # there is a constraint for every K
    return best, worst, visited


def _law(counts: Sequence[int], corners: Sequence[Optional[_Pair]], side: int) -> List[Fraction]:
    """The probabilities of each number of ones for teachers at these corners."""
    law = [Fraction(1)]
    none = [Fraction(0)]
    for n, pair in zip(counts, corners):
        if pair is None:
            continue  # n is 0: the caller has checked it
        for _ in range(n):
            p = Fraction(pair[side])
            law = [a * (1 - p) + b * p for a, b in zip(law + none, none + law)]
    return law


def _lower_bound(table: _Table) -> Fraction:
    """A number that no private noise function of this shape has an error below.

    Weak duality: for multipliers y ≥ 0 on constraints that every private γ satisfies,

        error(γ) ≥ Σ w(l) - Σ y·r + min over γ of Σ d(l)·γ(l),   d = -w + Σ y·row.

    Constraints and right sides are divided by 1 + E, as in the table. e^ε is rounded down and E up,
    the other way round than for privacy: what keeps the promise keeps the weaker one too, so every
    private γ satisfies these rows (lower_bound in proofs/Optimal.v, weaker_keeps in proofs/Bound.v; by name
    named_lower_bound in proofs/ByName.v).
    """
    k, free = table.k, table.free
    weights = table.weights()
    if weights is None:
        stated = [Fraction(float(w)) for w in table.raw.get("proof_weights", [])]
        if not stated:
            return Fraction(0)  # nothing is proved, but that no error is negative
        # For weights of sum ≤ ½, Σ w·(1-γ) is at most the worst case, max ½·(1-γ).
        if len(stated) != free or min(stated) < 0 or sum(stated) > Fraction(1, 2) + Fraction(1, 10**12):
            raise CheckError("proof_weights must be numbers ≥ 0, one for each γ, of sum at most 1/2")
        total = sum(stated)
        weights = [w / max(1, 2 * total) for w in stated]
    corners, factor = table.corners(up=False), _exp(table.total, up=True)
    price, d = Fraction(0), [-w for w in weights]
    right = (factor - 1 + 2 * table.delta) / (1 + factor)
    for term in table.raw.get("proof", []):
        counts, y = term["corners"], Fraction(float(term["multiplier"]))
        fits = len(counts) == 8 and sum(counts) == k and min(counts) >= 0 and sum(counts[2:]) <= table.affected
        if y < 0 or not fits or any(n and c is None for n, c in zip(counts, corners)):
            raise CheckError(f"proof: {term} is no constraint of this table")
        p, q = _law(counts, corners, 0), _law(counts, corners, 1)
        zero = term.get("zero", False)
        if zero not in (False, True) or zero and not table.by_name:
            raise CheckError(f"proof: {term} is no constraint of this table")
        for l in range(free):
            row = (p[k - l] - p[l] - factor * (q[k - l] - q[l])) / (1 + factor)
            if table.by_name:  # of label 1, or of label 0, over each γ by itself
                row = (p[l] - factor * q[l]) / (1 + factor)
                row = -row if (2 * l < k) != zero else row
            d[l] += y * row
        price += y * right
    if table.shape in ("any", "by-name"):  # γ in [-1,1], and so every mechanism on the votes
        least = -sum((abs(x) for x in d), Fraction(0))
    elif table.shape == "free":
        least = sum((min(Fraction(0), x) for x in d), Fraction(0))
    else:  # γ that do not increase towards the middle are mixtures of steps
        prefix, least = Fraction(0), Fraction(0)
        for x in d:
            prefix += x
            least = min(least, prefix)
    return max(Fraction(0), sum(weights) - price + least)


def check(table: Union[str, Dict[str, Any]]) -> Verdict:
    """Check a table: a path, or the object that its JSON holds, read by ``load``.

    >>> import darrm
    >>> from darrm.check import check
    >>> import json, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "table.json")
    >>> darrm.solve(K=3, m=1, eps=1, teacher_delta=0).save(path)
    >>> verdict = check(path)
    >>> verdict.private, verdict.optimal, verdict.constraints
    (True, True, 20)

    Returns a Verdict. Raises CheckError for what is no table, or too large for this way, and
    OSError for a file that cannot be read.
    """
    raw: Dict[str, Any] = table if isinstance(table, dict) else load(table)
    if isinstance(raw, dict) and raw.get("kind") == "plurality":
        return _many(raw)
    if isinstance(raw, dict) and raw.get("kind") == "answers":
        return _game(raw)
    if isinstance(raw, dict) and raw.get("kind") == "noise":
        return _noisy(raw)
    t = _Table(raw)
    t.phi()  # γ that cannot be drawn exactly is refused, whatever shows the promise
    corners = t.corners(up=True)
    factor = _exp(t.total, up=False)
    worst: List[int] = []
    if t.post_processing():
        method, excess, constraints = "post-processing", Fraction(0), t.constraints()
    else:
        left, worst, constraints = _worst(t, corners, factor)
        method, excess = "sweep", left - (factor - 1 + 2 * t.delta)

    gamma = [Fraction(float(g)) for g in t.gamma]
    weights = t.weights()
    if weights is None:
        error = max((1 - g) / 2 for g in gamma[: t.free])
    else:
        error = sum((w * (1 - g) for w, g in zip(weights, gamma)), Fraction(0))
    gap = error - _lower_bound(t)
    stated = _decimal(raw.get("certificate", {}).get("gap"), "certificate.gap")
    return Verdict(excess <= 0, method, float(excess), worst, constraints, gap <= stated, float(error), float(gap))


def _many(raw: Dict[str, Any]) -> Verdict:
    """check for a table of many classes."""
    try:
        t = _plurality.Table(raw, _decimal)
        excess, worst, constraints, rows = _plurality.worst(t, _exp(t.total, up=False))
        worth = t.worth(t.weights())
        value = sum((w * g for w, g in zip(worth, t.mass)), Fraction(0)) / 2**53
        gap = _plurality.bound(t, worth, rows, _exp(t.total, up=True)) - value
    except _plurality.Malformed as e:
        raise CheckError(str(e)) from e
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as e:
        raise CheckError(f"no table of many classes: {e!r}") from e
    stated = _decimal(raw.get("gap"), "gap")
    return Verdict(excess <= 0, "sweep", float(excess), worst, constraints, gap <= stated, float(1 - value), float(gap))


def _game(raw: Dict[str, Any]) -> Verdict:
    """check for a table for many answers."""
    try:
        t = _answers.table_of(raw, _decimal)
        most = min(t.delta, _decimal(raw.get("certificate", {}).get("delta"), "certificate.delta"))
        each = "each_epsilon" in raw.get("price", {})
        if each:
            price, pairs = _answers.composed(t, _exp(t.total, up=False), _exp)
        else:
            price, pairs = _answers.price(t, _exp(t.total, up=False), most)
        value = t.value()
        stated = _decimal(raw.get("value"), "value")
        listed = raw.get("certificate", {}).get("pairs")
    except _plurality.Malformed as e:
        raise CheckError(str(e)) from e
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as e:
        raise CheckError(f"no table for many answers: {e!r}") from e
    optimal = False if value is not None and stated > value or type(listed) is not int or listed != pairs else None
    error = float(1 - (stated if value is None else value))
    return Verdict(price <= most, "game", float(price - most), [], pairs, optimal, error, 1.0)


def _noisy(raw: Dict[str, Any]) -> Verdict:
    """check for noise that is priced by its label."""
    try:
        t = _noise.Noise(raw, _decimal)
        # The stated price is one of all pairs, too, and both may be the exact one: to its last digits they differ.
        most = min(t.delta, _decimal(raw.get("certificate", {}).get("delta"), "certificate.delta") * (1 + Fraction(1, 10**5)))
        # What the probabilities' last digits may hide: see _noise.py.
        hidden = t.answers * Fraction(t.slack)
        if 2 * hidden >= t.total:
            raise _plurality.Malformed("its probabilities are not known well enough for so many answers; use darrm verify")
        raised = _exp(hidden, up=True)
        price, pairs = _answers.price(t, _exp(t.total - 2 * hidden, up=False), most / raised)
        price *= raised
    except _plurality.Malformed as e:
        raise CheckError(str(e)) from e
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as e:
        raise CheckError(f"no noise that is priced by its label: {e!r}") from e
    return Verdict(price <= most, "game", float(price - most), [], pairs, None, 1.0, 1.0)


def _fields(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """An object's fields. Two readers may take different ones of a name that appears twice."""
    fields = dict(pairs)
    if len({name.lower() for name in fields}) < len(pairs):
        raise CheckError("a field appears twice: " + ", ".join(name for name, _ in pairs))
    return fields


def load(path: str) -> Any:
    """Read a table with its decimals as exact fractions; ``-`` is standard input."""
    try:
        if path == "-":
            return json.load(sys.stdin, parse_float=Fraction, object_pairs_hook=_fields)
        with open(path, encoding="utf-8") as f:
            return json.load(f, parse_float=Fraction, object_pairs_hook=_fields)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as e:
        raise CheckError(f"{path}: not JSON: {e}") from e


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command. Returns 0 where all holds, 4 where something does not, 3 for other files."""
    parser = argparse.ArgumentParser(prog="python3 -m darrm.check", description="Check a table of darrm solve with exact fractions.")
    parser.add_argument("table", help="the table's file, - for standard input")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    options = parser.parse_args(arguments)
    try:
        v = check(options.table)
    except (CheckError, OSError) as e:
        print(f"darrm.check: {e}", file=sys.stderr)
        return 3
    if options.json:
        json.dump(vars(v), sys.stdout, indent=2)
        print()
    else:
        if v.method == "game":
            print(f"private: {'yes' if v.private else 'NO'}: all answers together, over {v.constraints:,} pairs of neighbours")
            print(f"  price - stated price = {v.excess:.3e}")
        elif v.method == "post-processing":
            print(f"private: yes: all {v.constraints:,} constraints, by post-processing")
            print("  all that one record reaches may be published under the promise")
        else:
            print(f"private: yes: all {v.constraints:,} constraints" if v.private else f"private: NO: one of {v.constraints:,} constraints is broken")
            where = "between the votes" if v.worst and isinstance(v.worst[0], list) else "at corners"
            print(f"  largest left side - right side = {v.excess:.3e} {'≤' if v.private else '>'} 0, {where} {v.worst}")
        if v.method == "game":
            if v.error == 1:  # noise says nothing of it
                return 0 if v.private else 4
            value = f"agreement: {1 - v.error:.12g}" if v.error < 1 else f"cost of an answer: {v.error - 1:.12g}"
            print(f"{value}{', not what the table claims' if v.optimal is False else ''}")
            return 0 if v.private and v.optimal is not False else 4
        print(f"optimal: {'yes' if v.optimal else 'NO'}: error {v.error:.12g}, at most {max(v.gap, 0):.2g} above the least possible")
    return 0 if v.private and v.optimal is not False else 4


if __name__ == "__main__":
    sys.exit(main())
