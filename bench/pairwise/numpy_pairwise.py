"""What learning from pairs costs in numpy.

    numpy_pairwise.py RECORDS DIMENSION STEP BALL MORE COUNT

RECORDS holds a class and the features of each record as float64, RECORDS.draws the numbers of
the records that Algorithm 1 draws. Prints JSON: seconds of the processor for a step, the model, and with MORE = true
its mean loss over all pairs, seconds of a gradient over all pairs, how long descent by such
gradients takes to the model's mean loss, and what draws cost. Steps are timed among COUNT records, which is
how many there are of the first ones, again and again.
"""

import itertools
import json
import sys
import time

import numpy as np

path, d, step, ball, more, count = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), sys.argv[5] == "true", int(sys.argv[6])
table = np.fromfile(path).reshape(-1, d + 1)
X, y = np.ascontiguousarray(table[:, 1:]), table[:, 0]
draws = np.fromfile(path + ".draws", dtype=np.int64)


def algorithm(X, y, draws):
    """Algorithm 1 with the logistic loss; the average of its iterates."""
    w, mean = np.zeros(d), np.zeros(d)
    before = draws[0]
    for now in draws[1:]:
        sign = y[now] - y[before]
        if sign != 0:
            u = sign * (X[now] - X[before])
            w += step / (1 + np.exp(w @ u)) * u
            size = np.sqrt(w @ w)
            if size > ball:
                w *= ball / size
        mean += w
        before = now
    return mean / (len(draws) - 1)


def seconds(f):
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        f()
        best = min(best, time.process_time() - begin)
    return best


out = {"model": algorithm(X, y, draws).tolist()}
many, label = np.tile(X, (-(-count // len(X)), 1)), np.tile(y, -(-count // len(y)))
far = np.random.default_rng(1).integers(len(many), size=len(draws))
out["steps"] = seconds(lambda: algorithm(many, label, far)) / (len(draws) - 1)

if more:
    up, down = X[y == 1], X[y == 0]
    n = len(y)
    weight = 2 / (n * (n - 1))

    def gradient(w):
        """Over all pairs at once, as libraries on tensors work it out."""
        slope = -1 / (1 + np.exp((up @ w)[:, None] - (down @ w)[None, :]))
        return weight * (slope.sum(1) @ up - slope.sum(0) @ down)

    def risk(w):
        return weight * np.logaddexp(0, (down @ w)[None, :] - (up @ w)[:, None]).sum()

    w = np.array(out["model"])
    out["risk"] = risk(w)
    out["gradient"] = seconds(lambda: gradient(w))
    # The loss has a Hessian of at most half of 1/4 times the largest difference squared: any longer step
    # than this may diverge on other data.
    size = 2 / (0.25 * (2 * np.linalg.norm(X, axis=1).max()) ** 2 / 2)
    gradients, v = 0, np.zeros(d)
    while gradients < 5000 and risk(v) > out["risk"]:
        v -= size * gradient(v)
        gradients += 1
    out["descent"], out["gradients"] = gradients * out["gradient"], gradients
    rng = np.random.default_rng(2)
    out["index"] = seconds(lambda: [rng.integers(n) for _ in range(1000)]) / 1000

    def listed():
        pairs = list(itertools.combinations(range(n), 2))
        return pairs[rng.integers(len(pairs))]

    out["listed"] = seconds(listed)

print(json.dumps(out))
