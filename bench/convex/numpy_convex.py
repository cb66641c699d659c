"""Seconds that private training takes in numpy and scikit-learn.

    numpy_convex.py RECORDS DIMENSION

Prints three numbers: one pass of projected stochastic gradient descent with the hinge loss in
plain numpy, the same by scikit-learn's SGDClassifier (which is not private and does not
project), and objective perturbation as libraries of private learning have it, L-BFGS on the
logistic loss with a random linear term.
"""

import sys
import time

import numpy as np

n, d = (int(a) for a in sys.argv[1:])
rng = np.random.default_rng(1)
X = rng.standard_normal((n, d))
X /= np.linalg.norm(X, axis=1, keepdims=True)
y = (X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n) > 0).astype(float)


def seconds(f):
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def numpy_pass():
    w, mean, step = np.zeros(d), np.zeros(d), 0.1 / np.sqrt(n)
    for i in range(n):
        s = 2 * y[i] - 1
        if s * (X[i] @ w) < 1:
            w += step * s * X[i]
        size = np.sqrt(w @ w)
        if size > 1:
            w /= size
        mean += w
    return mean / n + 0.01 * rng.standard_normal(d)


def sklearn_pass():
    from sklearn.linear_model import SGDClassifier

    SGDClassifier(loss="hinge", max_iter=1, tol=None, average=True, shuffle=False, alpha=1e-9).fit(X, y)


def objective_perturbation():
    from scipy.optimize import minimize

    b, lam, s = 0.001 * rng.standard_normal(d), 1e-3, 2 * y - 1

    def objective(w):
        z = s * (X @ w)
        p = 1 / (1 + np.exp(z))
        return np.logaddexp(0, -z).mean() + lam / 2 * w @ w + b @ w, -(s * p) @ X / n + lam * w + b

    minimize(objective, np.zeros(d), jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "maxiter": 1000})


print(seconds(numpy_pass))
try:
    print(seconds(sklearn_pass))
except ImportError:
    print("nan")
print(seconds(objective_perturbation))
