"""DP-ShuffleG on mean estimation as one writes it with numpy from the formulas.

    numpy_shuffled.py N D K STEP CLIP SIGMA

Prints the seconds of the training loop alone, the seconds of drawing as many normals
alone, and the last objective. The data are sines, so that any program can make the same.
With SIGMA 0 records are visited in their own order, otherwise reshuffled in each epoch.
"""
import sys
import time

import numpy as np

n, d, epochs = (int(v) for v in sys.argv[1:4])
eta, clip, sigma = (float(v) for v in sys.argv[4:7])
rng = np.random.default_rng(1)
data = np.sin(np.arange(1, n * d + 1, dtype=float)).reshape(n, d)

begin = time.perf_counter()
x = np.zeros(d)
for _ in range(epochs):
    order = rng.permutation(n) if sigma > 0 else np.arange(n)
    for i in order:
        g = x - data[i]
        g *= min(1.0, clip / np.linalg.norm(g))
        if sigma > 0:
            g += rng.normal(0.0, sigma, d)
        x -= eta * g
    x *= min(1.0, 10.0 / max(np.linalg.norm(x), 1e-300))
loop = time.perf_counter() - begin

begin = time.perf_counter()
for _ in range(epochs * n if sigma > 0 else 0):
    rng.normal(0.0, sigma, d)
alone = time.perf_counter() - begin

print(f"{loop:.6f} {alone:.6f} {0.5 * np.mean(np.sum((data - x) ** 2, axis=1)):.17g}")
