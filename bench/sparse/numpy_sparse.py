"""Seconds a step of noisy Frank-Wolfe takes in numpy, and with scipy.sparse.

    numpy_sparse.py RECORDS DIMENSION PER_RECORD DENSE

The records have the law of main.go's. A step is the gradient of the logistic loss over all
records, Laplace noise on the 2d scores, the least of them, and the move towards its vertex. It
prints two numbers, of which the first is nan unless DENSE is 1.
"""

import sys
import time

import numpy as np
import scipy.sparse

n, d, per, dense = (int(a) for a in sys.argv[1:])
rng = np.random.default_rng(1)
columns = np.minimum(d - 1, 10 * np.exp(rng.random((n, per)) * np.log((d + 10) / 10)) - 10).astype(int)
rows = np.repeat(np.arange(n), per)
X = scipy.sparse.csr_matrix((1 - rng.random(n * per), (rows, columns.ravel())), shape=(n, d))
X.data = np.minimum(X.data, 1)
y = (rng.random(n) < 0.5).astype(float)


def step_time(X):
    XT = X.T.tocsr() if scipy.sparse.issparse(X) else X.T
    w = np.zeros(d)
    steps, begin = 0, time.perf_counter()
    while steps == 0 or time.perf_counter() - begin < 0.5:
        steps += 1
        g = XT @ (1 / (1 + np.exp(-(X @ w))) - y) / n
        scores = np.concatenate([g, -g]) + rng.laplace(scale=0.01, size=2 * d)
        v = int(np.argmin(scores))
        mu = 3 / (steps + 2)
        w *= 1 - mu
        w[v % d] += 10 * mu if v < d else -10 * mu
    return (time.perf_counter() - begin) / steps


print(step_time(X.toarray()) if dense else float("nan"), step_time(X))
