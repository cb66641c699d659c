"""Decodes reports by docs/federated.md alone.

    decode.py one-bit|rand-k|privunit DIMENSION K < lines of hexadecimal messages

Prints for each message its vector v in hexadecimal floating point: with its sign; of rand-k at the K
coordinates that the seed names and 0 elsewhere; of privunit W^T v with a projection to K > 0 numbers.
Nothing but the standard library.
"""

import math
import struct
import sys

M64 = (1 << 64) - 1
G = 0x9E3779B97F4A7C15


def fin(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


class Stream:
    def __init__(self, root, *labels):
        h = root
        for v in labels:
            h = fin((h + G) & M64) ^ v
        self.state = fin((h + G) & M64)

    def u64(self):
        self.state = (self.state + G) & M64
        return fin(self.state)

    def f64(self):
        return (self.u64() >> 11) / 2.0**53

    def bound(self, m):
        while (x := self.u64()) < (1 << 64) % m:
            pass
        return x % m

    def subset(self, d, k):
        a = list(range(d))
        for i in range(k):
            j = i + self.bound(d - i)
            a[i], a[j] = a[j], a[i]
        return sorted(a[:k])


def f(x):
    return math.exp(-x * x / 2)


R, V = 3.6541528853610088, 0.00492867323397465524
X = [V / f(R), R]
for i in range(1, 255):
    X.append(math.sqrt(-2 * math.log(V / X[i] + f(X[i]))))
X.append(0.0)
WIDTH = [single(x / 2**23) for x in X[:256]]
INSIDE = [int(X[i + 1] / X[i] * 2**23) for i in range(256)]
HEIGHT = [f(x) for x in X[:256]] + [1.0]


def normal(w, s):
    while True:
        i, m = w & 255, w >> 9
        sign = -1.0 if w & 256 else 1.0
        x = single((m + 0.5) * WIDTH[i])
        if m < INSIDE[i]:
            return sign * x
        if i == 0:
            while True:
                a = -math.log(1 - s.f64()) / R
                b = -math.log(1 - s.f64())
                if 2 * b > a * a:
                    return sign * single(R + a)
        if HEIGHT[i] + (HEIGHT[i + 1] - HEIGHT[i]) * s.f64() < f(x):
            return sign * x
        w = s.u64() & 0xFFFFFFFF


def normals(seed, purpose, row, n):
    s, out = Stream(seed, purpose, row), []
    while len(out) < n:
        u = s.u64()
        out.append(normal(u & 0xFFFFFFFF, s))
        if len(out) < n:
            out.append(normal(u >> 32, s))
    return out


def unit(seed, row, n, sign):
    g = normals(seed, 12, row, n)
    size = sign * math.sqrt(math.fsum(x * x for x in g))
    return [x / size for x in g]


mode, d, k = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for line in sys.stdin:
    seed, last = struct.unpack("<QB", bytes.fromhex(line.strip()))
    if mode == "one-bit":
        v = unit(seed, 0, d, {0: -1, 1: 1}[last])
    elif mode == "rand-k":
        v = [0.0] * d
        for j, x in zip(Stream(seed, 4).subset(d, k), unit(seed, 0, k, {0: -1, 1: 1}[last]), strict=True):
            v[j] = x
    elif mode == "privunit":
        v = unit(seed, last >> 1, k or d, -1 if last & 1 else 1)
        if k:
            rows = [normals(seed, 13, j, d) for j in range(k)]
            v = [math.fsum(v[j] * rows[j][c] for j in range(k)) for c in range(d)]
    print(*(x.hex() for x in v))
