"""Write prompts-4-50.csv.gz: votes of python/examples/prompts.py's simulated prompts, for more queries.
And prompts-public-4-50.csv.gz: those of other prompts on other queries, which may be public.

    python3 experiment/classes/votes/make.py FOLDER
"""

import gzip
import pathlib
import random
import sys
import types

QUERIES = 5000

example = pathlib.Path(__file__).parents[3] / "python" / "examples" / "prompts.py"
generator = example.read_text().split("votes, truth = simulate(")[0]  # the rest needs the package
sys.modules["darrm"] = types.ModuleType("darrm")
simulated = {}
exec(compile(generator, example, "exec"), simulated)
simulated["QUERIES"] = QUERIES
classes = simulated["CLASSES"]
for name, seed in [("prompts-4-50", 2024), ("prompts-public-4-50", 2025)]:
    votes, truth = simulated["simulate"](random.Random(seed))
    lines = [",".join([*(f"n{c}" for c in range(len(classes))), "label"])]
    lines += [",".join(map(str, [*map(row.count, classes), classes.index(t)])) for row, t in zip(votes, truth)]
    file = pathlib.Path(sys.argv[1]) / f"{name}.csv.gz"
    file.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
