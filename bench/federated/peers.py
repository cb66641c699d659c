"""Microseconds that one local report takes in numpy and in pfl-research.

    peers.py DIMENSION REPORTS [PFL]

Prints four numbers: the one-bit mechanism in numpy record by record, from the vector to the sum
of the reports; the same with all records' normal numbers drawn as one array; with the vector made
anew from a 64-bit seed, as a server of short messages has to; and the local Gaussian mechanism of
pfl-research, whose checkout is PFL (0 without one). pfl-research has no one-bit mechanism: its
row is what it does with one user's vector, clipping, noise and summing in numpy.
"""

import math
import multiprocessing
import sys
import time
import types

import numpy as np

d, n = int(sys.argv[1]), int(sys.argv[2])
eps = 0.58
keep = math.exp(eps) / (1 + math.exp(eps))
scale = math.sqrt(math.pi) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2)) / math.tanh(eps / 2)
rng = np.random.default_rng(1)
x = np.zeros(d)
x[0] = 1


def least(f, rounds=5):
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best / n


def one_by_one():
    total = np.zeros(d)
    for _ in range(n):
        v = rng.standard_normal(d)
        v /= np.linalg.norm(v)
        s = 1.0 if v @ x >= 0 else -1.0
        if rng.random() >= keep:
            s = -s
        total += scale * s * v
    return total


def together():
    v = rng.standard_normal((n, d))
    s = np.where(v @ x >= 0, 1.0, -1.0) * np.where(rng.random(n) < keep, 1.0, -1.0)
    return (scale * s / np.linalg.norm(v, axis=1)) @ v


def from_seeds():
    total = np.zeros(d)
    for seed in rng.integers(0, 2**63, n):
        v = np.random.default_rng(seed).standard_normal(d)
        s = 1.0 if v @ x >= 0 else -1.0
        if rng.random() >= keep:
            s = -s
        v = np.random.default_rng(seed).standard_normal(d)
        total += scale * s / np.linalg.norm(v) * v
    return total


def pfl(path):
    class Absent(types.ModuleType):
        """Stands for accounting libraries that are imported and not used by a report."""

        __path__ = []

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    sys.path.insert(0, path)
    for name, other in [("multiprocess", multiprocessing)] + [
        (m, Absent(m)) for m in ("dp_accounting", "dp_accounting.dp_event", "dp_accounting.pld", "dp_accounting.pld.accountant", "dp_accounting.pld.common",
                                 "dp_accounting.pld.privacy_loss_distribution", "dp_accounting.rdp", "prv_accountant")
    ]:
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = other
    from pfl.internal.ops import numpy_ops, selector

    selector.set_framework_module(numpy_ops)
    from pfl.privacy import GaussianMechanism
    from pfl.stats import MappedVectorStatistics

    mechanism = GaussianMechanism.construct_single_iteration(1.0, eps, 1e-5)
    g = x.astype(np.float32)

    def run():
        total = None
        for _ in range(n):
            s = MappedVectorStatistics({"g": g.copy()}, weight=1)
            s, _ = mechanism.constrain_sensitivity(s)
            s, _ = mechanism.add_noise(s, 1)
            total = s if total is None else total + s

    return least(run, 3)


print(least(one_by_one), least(together), least(from_seeds), pfl(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else 0)
