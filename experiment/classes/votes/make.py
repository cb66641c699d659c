"""Write prompts-4-50.csv.gz: votes of python/examples/prompts.py's simulated prompts, for more queries.

    python3 experiment/classes/votes/make.py > experiment/classes/votes/prompts-4-50.csv.gz
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
votes, truth = simulated["simulate"](random.Random(2024))
classes = simulated["CLASSES"]
lines = [",".join([*map(str, range(len(classes))), "label"])]
lines += [",".join(map(str, [*map(row.count, classes), classes.index(t)])) for row, t in zip(votes, truth)]
sys.stdout.buffer.write(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
