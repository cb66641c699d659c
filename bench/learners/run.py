#!/usr/bin/env python3
"""Ratios of darrm to NumPy, pandas and scikit-learn for learning, in one run: bench/learners/run.py [runs].

It needs darrm ($DARRM, or as the Python package finds it), NumPy, pandas and scikit-learn. The table is made up: 40,000
rows of 100 numbers and two classes. Each figure is the least of the runs, in seconds of wall time and of all processors;
what is compared runs in turns, so that a busy machine slows both.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

import darrm  # noqa: E402

ROWS, COLUMNS = 40_000, 100


def seconds(do):
    """Wall time and processor time, of children too."""
    def processor():
        return sum(getattr(resource.getrusage(who), f) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) for f in ("ru_utime", "ru_stime"))

    wall, cpu = time.perf_counter(), processor()
    do()
    return time.perf_counter() - wall, processor() - cpu


def main(runs):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 10, (ROWS, COLUMNS))
    w = rng.normal(size=COLUMNS)
    y = ((X - 5) @ w + rng.normal(size=ROWS) * 3 > 0).astype(int)
    u = np.hstack([X / 5 - 1, np.ones((ROWS, 1))])
    names = [f"x{i}" for i in range(COLUMNS)]
    theirs = LogisticRegression(max_iter=1000).fit(X, y)
    ours = darrm.LogisticRegression(epsilon=1, delta=1e-6, scale=(0, 10)).fit(X, y)
    steps = ours.model_["rounds"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.csv")
        pd.DataFrame({**dict(zip(names, X.T)), "y": y}).to_csv(path, index=False)
        command = [darrm._program.program(), "train", path, "--response", "y", "--scale", ",".join(names) + "=0:10", "--task", "logistic",
                   "--eps", "1", "--delta", "1e-6", "-q"]

        def read_and_fit():
            frame = pd.read_csv(path)
            LogisticRegression(max_iter=1000).fit(frame[names].to_numpy(), frame["y"])

        def descend():
            v = np.zeros(COLUMNS + 1)
            for _ in range(steps):
                slope = 1 / (1 + np.exp(-(u @ v))) - y
                slope *= np.minimum(1, 0.4 / np.maximum(np.abs(slope) * 5, 1e-9))
                v -= 1e-6 * (slope @ u)

        def run(*extra):
            return lambda: subprocess.run([*command, *extra], check=True, stdout=subprocess.DEVNULL)

        compared = [
            ("command, and pandas.read_csv + scikit-learn's fit", run(), read_and_fit),
            ("command to its cost (reading), and pandas.read_csv", run("--dry-run"), lambda: pd.read_csv(path)),
            ("Python fit of an array, and scikit-learn's", lambda: darrm.LogisticRegression(epsilon=1, delta=1e-6, scale=(0, 10)).fit(X, y),
             lambda: LogisticRegression(max_iter=1000).fit(X, y)),
            ("Python predict of an array, and scikit-learn's", lambda: ours.predict(X), lambda: theirs.predict(X)),
            (f"Python fit, and {steps} steps of gradient descent by NumPy", lambda: darrm.LogisticRegression(
                epsilon=1, delta=1e-6, scale=(0, 10)).fit(X, y), descend),
        ]
        best = {name: [(float("inf"),) * 2] * 2 for name, _, _ in compared}
        for _ in range(runs):
            for name, a, b in compared:
                for i, do in enumerate((a, b)):
                    best[name][i] = tuple(map(min, best[name][i], seconds(do)))
    print(f"{ROWS} × {COLUMNS}, {runs} runs, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, numpy {np.__version__}, pandas {pd.__version__}")
    print(f"{'':58}{'darrm s':>9}{'other s':>9}{'ratio':>7}{'cpu s':>8}{'cpu s':>8}{'ratio':>7}")
    for name, ((a, ca), (b, cb)) in best.items():
        print(f"{name:58}{a:9.3f}{b:9.3f}{a / b:7.2f}{ca:8.3f}{cb:8.3f}{ca / cb:7.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
