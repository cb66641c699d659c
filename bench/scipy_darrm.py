"""The optimal private majority, straight from the formulas, with scipy.

    scipy_darrm.py K m eps delta [mu]

K teachers, each (eps, delta)-differentially private; one released majority is
(m eps, 1-(1-delta)^m)-differentially private. Every privacy constraint is listed and
all of them are handed to HiGHS at once, as in S. Jiang, Communication Efficient and
Differentially Private Optimization (2025), chapter 3. Prints the expected error for
teachers with mean accuracy mu (default 0.75). Nothing is certified.

Seconds spent by part go to stderr.
"""

import sys
import time
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import linprog
from scipy.stats import binom


def powers(p, n):
    """Probabilities of 0..k ones among k teachers at p, for k = 0..n."""
    out = [np.ones(1)]
    for _ in range(n):
        out.append(np.convolve(out[-1], [1 - p, p]))
    return out


def main():
    K, m = int(sys.argv[1]), float(sys.argv[2])
    eps, delta = float(sys.argv[3]), float(sys.argv[4])
    mu = float(sys.argv[5]) if len(sys.argv) > 5 else 0.75

    E = np.exp(m * eps)
    a = (np.exp(eps) + delta) / (np.exp(eps) + 1)
    b = (1 - delta) / (np.exp(eps) + 1)
    corners = [(0, 0), (1, 1), (a, b), (b, a)]
    if delta > 0:
        corners += [(0, delta), (delta, 0), (1 - delta, 1), (1, 1 - delta)]

    half = (K + 1) // 2  # the values gamma(0..half-1); the others mirror them
    start = time.perf_counter()
    p_powers = [powers(p, K) for p, _ in corners]
    q_powers = [powers(q, K) for _, q in corners]
    rows = []
    for multiset in combinations_with_replacement(range(len(corners)), K):
        alpha = beta = np.ones(1)
        for c in sorted(set(multiset)):
            n = multiset.count(c)
            alpha = np.convolve(alpha, p_powers[c][n])
            beta = np.convolve(beta, q_powers[c][n])
        f = alpha - E * beta
        rows.append(f[::-1][:half] - f[:half])
    A = np.array(rows)
    listed = time.perf_counter()

    B = binom.pmf(np.arange(K + 1), K, mu)
    weights = 0.5 * (B[::-1][:half] - B[:half])
    bound = np.full(len(A), E - 1 - 2 * np.expm1(m * np.log1p(-delta)))
    lp = linprog(-weights, A_ub=A, b_ub=bound, bounds=(0, 1), method="highs")
    if lp.status != 0:
        sys.exit(lp.message)
    solved = time.perf_counter()
    print(f"{len(A)} rows: {listed - start:.3f} s, linprog: {solved - listed:.3f} s", file=sys.stderr)
    print(f"{np.sum(weights * (1 - lp.x)):.15g}")


main()
