# Messages of the schemes with a body of their own, written from docs/mean.md alone. It follows the
# client of that page, whose Stream it uses.

VALUES = {1: [0.797884560803],
         2: [0.452780034636, 1.510417608499],
         3: [0.245094178944, 0.756005281206, 1.343909278505, 2.151945704537],
         4: [0.128395029851, 0.388048299490, 0.656759118532, 0.942340456487, 1.256231197347, 1.618046386022, 2.069017226531, 2.732589570995]}

def header(root, round, client, scheme, d, count):
    return b"DSKM\x01" + bytes([scheme, 0, 0]) + struct.pack("<5Q", round, client, d, count, Stream(root, 10, round, client).u64())

def pack(numbers, width):
    word = sum(v << (width * i) for i, v in enumerate(numbers))
    return word.to_bytes((width * len(numbers) + 7) // 8, "little")

def floats(values):
    return struct.pack(f"<{len(values)}d", *values)

def f64(stream):
    return (stream.u64() >> 11) / 2.0**53

def wangni(root, round, client, x, k):
    p = [k * (abs(v) / sum(map(abs, x))) for v in x]  # for vectors where all of them are below 1
    assert max(p) < 1
    coins = Stream(root, 5, round, client)
    kept = [j for j, v in enumerate(p) if f64(coins) < v]
    return header(root, round, client, 16, len(x), len(kept)) + pack(kept, (len(x) - 1).bit_length()) + floats([x[j] / p[j] for j in kept])

def induced(root, round, client, x, k):
    d, top = len(x), k // 2
    places = sorted(sorted(range(d), key=lambda j: (-abs(x[j]), j))[:top])
    rest = [0.0 if j in places else v for j, v in enumerate(x)]
    values = [x[j] for j in places] + [rest[j] for j in Stream(root, 6, round, client).subset(d, k - top)]
    return header(root, round, client, 17, d, k) + pack(places, (d - 1).bit_length()) + floats(values)

def rounded(root, round, client, x, k, bits):
    y = struct.unpack(f"<{k}d", message(root, round, client, x, k)[48:])
    s, top, coins, codes = max(map(abs, y)), 2**bits - 1, Stream(root, 11, round, client), []
    assert s == struct.unpack("<f", struct.pack("<f", s))[0]
    for v in y:
        u = (v / s + 1) / 2 * top
        codes.append(math.floor(u) + (f64(coins) < u - math.floor(u)))
    return header(root, round, client, 32, len(x), k) + bytes([2, bits]) + struct.pack("<f", s) + pack(codes, bits)

def transform(a):
    return [sum(v * (-1) ** bin(r & j).count("1") for j, v in enumerate(a)) for r in range(len(a))]

def eden(root, round, client, x, k, bits):
    d = 1 << (len(x) - 1).bit_length()
    a, stream = x + [0.0] * (d - len(x)), Stream(root, 11, round, client)
    for _ in range(2):
        a = transform([s * v for s, v in zip(stream.signs(d), a)])
    unit = math.sqrt(sum(v * v for v in x) * d)
    values = [-v for v in reversed(VALUES[bits])] + VALUES[bits]
    z = [v / unit for v in a]
    codes = [min(range(len(values)), key=lambda c: abs(values[c] - v)) for v in z]
    scale = unit / sum(v * values[c] for v, c in zip(z, codes))
    if k < d:
        codes = [codes[j] for j in stream.subset(d, k)]
    return header(root, round, client, 33, len(x), k) + bytes([bits]) + struct.pack("<f", scale) + pack(codes, bits)
