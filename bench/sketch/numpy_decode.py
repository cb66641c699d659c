"""The decoder of Rand-Proj-Spatial as its formula is written: S as a d x d matrix, its
eigendecomposition, T of the eigenvalues, the pseudo-inverse, and the sum of G_i^T y_i.

python3 numpy_decode.py N K D RHO ROUNDS: prints the seconds of one decode (the least of
ROUNDS), and the squared error for identical unit vectors with beta = nd / sum(lambda/T).
"""

import sys
import time

import numpy as np


def hadamard(d):
    h = np.ones((1, 1))
    while len(h) < d:
        h = np.block([[h, h], [h, -h]])
    return h


n, k, d, rho, rounds = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
rng = np.random.default_rng(1)
H = hadamard(d) / np.sqrt(d)
x = np.zeros(d)
x[0] = 1
best, error = float("inf"), 0.0
for _ in range(rounds):
    G = [H[np.sort(rng.choice(d, k, replace=False))] * rng.choice([-1.0, 1.0], d) for _ in range(n)]
    y = [g @ x for g in G]
    begin = time.perf_counter()
    A = np.vstack(G)
    S = A.T @ A
    lam, V = np.linalg.eigh(S)
    keep = lam > 1e-9
    T = 1 + rho * (lam - 1)
    f = np.where(keep, 1 / np.where(keep, T, 1), 0)
    z = V @ (f * (V.T @ (A.T @ np.concatenate(y))))
    best = min(best, time.perf_counter() - begin)
    beta = n * d / np.sum(np.where(keep, lam * f, 0))
    error += np.sum((beta / n * z - x) ** 2) / rounds
print(best, error)
