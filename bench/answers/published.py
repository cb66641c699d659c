"""GNMax as published, by the functions of tensorflow/privacy.

    published.py FOLDER

FOLDER is research/pate_2018 of a checkout. Each line of the input is Q, ε, δ and a σ. Prints, for
each, the least σ of which Q answers are (ε, δ)-private by those functions, with Rényi differential
privacy that no vote enters, and the ε that they state of the σ that was given.
"""

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import core

# The orders of ICLR2018/rdp_cumulative.py.
orders = np.concatenate((np.arange(2, 100 + 1, 0.5), np.logspace(np.log10(100), np.log10(500), num=100)))


def epsilon(queries, sigma, delta):
    rdp = queries * core.rdp_data_independent_gaussian(sigma, orders)
    return core.compute_eps_from_delta(orders, rdp, delta)[0]


for line in sys.stdin:
    queries, target, delta, sigma = (float(v) for v in line.split())
    low, high = 1e-3, 1e6
    for _ in range(200):
        middle = (low * high) ** 0.5
        if epsilon(queries, middle, delta) <= target:
            high = middle
        else:
            low = middle
    print(high, epsilon(queries, sigma, delta))
