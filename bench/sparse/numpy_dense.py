"""Milliseconds of each step of noisy Frank-Wolfe on dense records in numpy.

    numpy_dense.py RECORDS DIMENSION STEPS step|product

A step is the gradient of the logistic loss over all records, Laplace noise on the 2d scores, the
least of them, and the move towards its vertex. "product" times the second product of it alone.
"""

import sys
import time

import numpy as np

n, d, steps = (int(a) for a in sys.argv[1:4])
rng = np.random.default_rng(1)
X = 2 * rng.random((n, d)) - 1
y = (rng.random(n) < 0.5).astype(float)
w = np.zeros(d)
for step in range(1, steps + 2):
    begin = time.perf_counter()
    s = 1 / (1 + np.exp(-(X @ w))) - y
    if sys.argv[4] == "product":
        begin = time.perf_counter()
    g = X.T @ s / n
    if sys.argv[4] == "product":
        end = time.perf_counter()
    scores = np.concatenate([g, -g]) + rng.laplace(scale=0.01, size=2 * d)
    v = int(np.argmin(scores))
    mu = 3 / (step + 2)
    w *= 1 - mu
    w[v % d] += 10 * mu if v < d else -10 * mu
    if sys.argv[4] != "product":
        end = time.perf_counter()
    if step > 1:
        print((end - begin) * 1e3)
