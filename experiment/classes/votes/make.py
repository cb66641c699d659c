"""Write prompts-4-50.csv.gz: votes of python/examples/prompts.py's simulated prompts, for more queries.
And prompts-public-4-50.csv.gz: those of other prompts on other queries, which may be public; prompts-4-25.csv.gz: those
of half as many prompts; and mnist-2-101.csv.gz: the counts of testdata/mnist-5v8-disjoint.

    python3 experiment/classes/votes/make.py FOLDER
"""

import gzip
import pathlib
import random
import sys
import types

QUERIES = 5000

folder = pathlib.Path(sys.argv[1])
root = pathlib.Path(__file__).parents[3]


def write(name, lines):
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


example = root / "python" / "examples" / "prompts.py"
generator = example.read_text().split("votes, truth = simulate(")[0]  # the rest needs the package
sys.modules["darrm"] = types.ModuleType("darrm")
simulated = {}
exec(compile(generator, example, "exec"), simulated)
simulated["QUERIES"] = QUERIES
classes = simulated["CLASSES"]
for name, teachers, seed in [("prompts-4-50", 50, 2024), ("prompts-public-4-50", 50, 2025), ("prompts-4-25", 25, 2026)]:
    simulated["K"] = teachers
    votes, truth = simulated["simulate"](random.Random(seed))
    lines = [",".join([*(f"n{c}" for c in range(len(classes))), "label"])]
    lines += [",".join(map(str, [*map(row.count, classes), classes.index(t)])) for row, t in zip(votes, truth)]
    write(name, lines)

lines = ["n0,n1,label"]
for line in (root / "testdata" / "mnist-5v8-disjoint" / "votes.csv").read_text().splitlines()[1:]:
    votes, label = line.split(",")[1:-1], line.split(",")[-1]
    lines.append(f"{votes.count('0')},{votes.count('1')},{label}")
write("mnist-2-101", lines)
