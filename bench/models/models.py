#!/usr/bin/python3
"""Private models of three tables by darrm, by diffprivlib and without privacy, nine runs each.

    models.py DIFFPRIVLIB DATA [WORD]

DIFFPRIVLIB is a checkout of IBM/differential-privacy-library, which is run as it is: 0.6.2 on a
scikit-learn before 1.4, Debian's among them, and 0.6.6 on later ones. What the two minimise is a sum or
a mean, and noise for the other is n times too small. DATA has uci-credit-card.csv, compas-two-years.csv and communities.data. All learn
from the same three quarters of the rows, by the same public ranges and words, and are measured on
the quarter that darrm train --hold-out 0.25 leaves out (dp-sgd on another: its goes by content). WORD keeps the tables whose name has it.
DARRM is the program, darrm in PATH by default.
"""

import csv
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

EPSILON, DELTA, SHARE, RUNS = 1.0, 1e-6, 0.25, 9
DARRM = os.environ.get("DARRM", "darrm")


class Table:
    """A table with its public rules: ranges of numbers, words of columns, and the response."""

    def __init__(self, name, path, task, response, scale, words, y_range=None, names=None, fill=None):
        self.name, self.task, self.response, self.y_range = name, task, response, y_range
        self.scale, self.words, self.fill = scale, words, fill
        self.columns = [*scale, *words]
        with open(path, newline="") as f:
            rows = list(csv.reader(f))
        self.header = names or rows.pop(0)
        self.rows = [dict(zip(self.header, row)) for row in rows]

    def write(self, path):
        with open(path, "w", newline="") as f:
            out = csv.DictWriter(f, [*self.columns, self.response], extrasaction="ignore")
            out.writeheader()
            out.writerows(self.rows)

    def flags(self):
        yield from ("--response", self.response, "--columns", ",".join(self.columns))
        ranges = dict(self.scale)
        if self.y_range:
            ranges[self.response] = self.y_range
        for column, (low, high) in ranges.items():
            yield from ("--scale", f"{column}={low}:{high}")
            if self.fill is not None and column != self.response:
                yield from ("--fill", f"{column}={self.fill}")
        for column, words in self.words.items():
            yield from ("--categories", f"{column}={','.join(words)}")

    def records(self):
        """The same records as darrm makes, as lists: what is learned from, and what is held out."""
        parts = ([], [], [], [])
        for i, row in enumerate(self.rows):
            x = []
            for column, (low, high) in self.scale.items():
                cell = row[column]
                value = float(self.fill if self.fill is not None and cell in ("?", "") else cell)
                x.append(2 * (min(max(value, low), high) - low) / (high - low) - 1)
            for column, words in self.words.items():
                x += [float(row[column] == word) for word in words]
            held = hashlib.sha256(b"darrm hold-out v1\n" + i.to_bytes(8, "little")).digest()
            part = 2 * ((int.from_bytes(held[:8], "little") >> 11) * 2.0**-53 < SHARE)
            parts[part].append(x)
            parts[part + 1].append(float(row[self.response]))
        return parts

    def radius(self):
        """The public bound on a record's length: a column adds 1 at most."""
        return math.sqrt(len(self.columns))


def tables(folder):
    spans = {"X1": (0, 500000), "X5": (20, 80)}
    spans.update({f"X{i}": (-2, 4) for i in range(6, 12)})
    spans.update({f"X{i}": (0, 200000) for i in range(12, 18)})
    spans.update({f"X{i}": (0, 20000) for i in range(18, 24)})
    yield Table("credit card clients", folder / "uci-credit-card.csv", "logistic", "Y", spans,
                {"X2": ["1"], "X3": ["1", "2", "3"], "X4": ["1", "2"]})
    yield Table("COMPAS", folder / "compas-two-years.csv", "logistic", "two_year_recid",
                {"age": (18, 70), "juv_fel_count": (0, 5), "juv_misd_count": (0, 5), "juv_other_count": (0, 5), "priors_count": (0, 20)},
                {"sex": ["Male"], "c_charge_degree": ["F"]})
    # Its columns are normalised by those who published it, to [0,1]; the first five are no features.
    names = [f"c{i}" for i in range(128)]
    few = {"c5": "population", "c17": "medIncome", "c33": "PctPopUnderPov", "c35": "PctNotHSGrad", "c37": "PctUnemployed"}
    for name, columns in ("communities, five columns", few), ("communities, all columns", names[5:127]):
        yield Table(name, folder / "communities.data", "linear", "c127", {n: (0, 1) for n in columns}, {}, (0, 1), names, 0.5)


def methods(task, box, learned):
    """The ways of darrm: the name of a row and the flags of train."""
    yield "**`darrm train FILE`**", ["--task", task]
    convex = ["--set", box, "--intercept"]
    if task == "linear":
        loss = ["--task", "ridge", "--clip", "1"]
    else:
        yield "`--task hinge`", ["--task", "hinge"]
        loss = ["--task", "logistic"]
    for name, more in [
        ("objective-perturbation", []), ("output-perturbation", []), ("phased-sgd", []), ("phased-sgd", ["--step-factor", "8"]),
        ("proximally-guided", ["--weak-convexity", "0.1"]), ("dp-sgd", ["--n", str(round(learned, -2))]),
    ]:
        label = " ".join([f"convex --method {name}", *(more if name != "dp-sgd" else [])])
        yield f"`{label}`", ["convex", "--method", name, *loss, *convex, *more]
    for name in ("frank-wolfe", "poly-sfw"):
        yield f"`convex --method {name}` in `l1:10`", ["convex", "--method", name, *loss, "--set", "l1:10", "--intercept"]
    yield "`convex --method nsfw` in `lp:1.5:5`", ["convex", "--method", "nsfw", *loss, "--set", "lp:1.5:5", "--intercept"]
    yield "`shuffled`, 10 epochs of step 0.1, clip 1", ["shuffled", "--task", loss[1], "--intercept", "--epochs", "10", "--step-size", "0.1", "--clip", "1"]
    if task != "linear":
        for name in ("cyclic", "one-pass"):
            yield f"`pairwise --method {name}`", ["pairwise", "--method", name, "--task", "logistic", "--ball", box.split(":")[1]]


def darrm(arguments):
    p = subprocess.run([DARRM, *arguments], capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr.strip().splitlines()[-1])
    return p.stdout


def train(table, flags, folder):
    """One model of darrm, and its figures on the rows held out."""
    path, model = folder / "table.csv", folder / "model.json"
    where = [str(path)]
    if not flags[0].startswith("--"):
        where = [flags[0], "--private", str(path)]
        flags = flags[1:]
    darrm(["train", *where, "-q", *flags, *table.flags(), "--hold-out", str(SHARE), "--eps", str(EPSILON), "--delta", str(DELTA), "--force", "-o", str(model)])
    figures = json.loads(darrm(["evaluate", "-q", "--json", "--held-out", str(model), str(path)]))
    return figures, json.loads(model.read_text())


def figures_of(classes, y, predicted, scores, unit):
    from sklearn.metrics import roc_auc_score

    if classes:
        return {"accuracy": statistics.fmean(float(a == b) for a, b in zip(y, predicted)), "auc": roc_auc_score(y, scores)}
    return {"rmse": math.sqrt(statistics.fmean((a - b) ** 2 for a, b in zip(y, predicted))) * unit}


def others(table, diffprivlib):
    """The model without privacy and those of diffprivlib: a name, and a function of a run's figures."""
    import numpy as np
    import sklearn
    from sklearn import linear_model

    learn_x, learn_y, test_x, test_y = (np.array(part) for part in table.records())
    radius = table.radius()

    def fitted(make):
        def run():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(learn_x, learn_y)
            if table.task == "linear":
                return figures_of(False, test_y, model.predict(test_x), None, 1)
            return figures_of(True, test_y, model.predict(test_x), model.decision_function(test_x), 1)

        return run

    sys.path.insert(0, str(diffprivlib))
    import diffprivlib as library
    from diffprivlib import models

    means, mean_noise = (tuple(map(int, m.__version__.split(".")[:3])) >= least for m, least in ((sklearn, (1, 4)), (library, (0, 6, 6))))
    if means != mean_noise:
        raise SystemExit(f"models.py: diffprivlib {library.__version__} is not for scikit-learn {sklearn.__version__}: its noise would be of another size")

    if table.task == "linear":
        columns = learn_x.shape[1]
        yield "scikit-learn, not private", fitted(linear_model.LinearRegression), 1
        yield "diffprivlib `LinearRegression`", fitted(lambda: models.LinearRegression(
            epsilon=EPSILON, bounds_X=([-1.0] * columns, [1.0] * columns), bounds_y=table.y_range)), RUNS
        return
    yield "scikit-learn, not private", fitted(lambda: linear_model.LogisticRegression(max_iter=1000)), 1
    yield "diffprivlib `LogisticRegression`", fitted(lambda: models.LogisticRegression(
        epsilon=EPSILON, data_norm=radius, max_iter=1000)), RUNS
    # What the determinant costs is c·R there (mechanisms/vector.py) and c·R² by the theorem: records
    # of length 1, the constant feature included, are as it is proved.
    whole = math.hypot(radius, 1)

    def unit():
        return UnitLength(models.LogisticRegression(epsilon=EPSILON, data_norm=1, C=whole**2, fit_intercept=False, max_iter=1000), whole)

    yield "the same, records and constant shortened to length 1", fitted(unit), RUNS


class UnitLength:
    """A classifier of records with a constant feature, divided by the bound on their length."""

    def __init__(self, model, length):
        self.model, self.length = model, length

    def _records(self, x):
        import numpy as np

        return np.hstack([x, np.ones((len(x), 1))]) / self.length

    def fit(self, x, y):
        self.model.fit(self._records(x), y)
        return self

    def predict(self, x):
        return self.model.predict(self._records(x))

    def decision_function(self, x):
        return self.model.decision_function(self._records(x))


def show(values):
    """The median of the runs, with the least and the most."""
    values = sorted(values)
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{statistics.median(values):.3f} ({values[0]:.3f}–{values[-1]:.3f})"


def main():
    diffprivlib, data = Path(sys.argv[1]), Path(sys.argv[2])
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table in tables(data):
            if word not in table.name:
                continue
            table.write(folder / "table.csv")
            learn_x, learn_y, _, test_y = table.records()
            classes = table.task != "linear"
            keys = ["accuracy", "auc"] if classes else ["rmse"]
            print(f"\n{table.name}: {len(learn_y)} rows to learn from, {len(test_y)} to measure on, {len(learn_x[0])} features\n")
            print("| model | " + " | ".join({"accuracy": "accuracy", "auc": "AUC", "rmse": "root mean squared error"}[k] for k in keys) + " | s a run |")
            print("|---|" + "---|" * len(keys) + "---:|")

            def row(label, run, times):
                start = time.process_time(), time.perf_counter()
                try:
                    runs = [run() for _ in range(times)]
                except RuntimeError as error:
                    print(f"| {label} | " + " | ".join(["–"] * len(keys)) + f" | {error} |", flush=True)
                    return
                each = (time.perf_counter() - start[1]) / times
                print(f"| {label} | " + " | ".join(show([r[k] for r in runs]) if k in runs[0] else "–" for k in keys) + f" | {each:.1f} |", flush=True)

            for label, run, times in others(table, diffprivlib):
                row(label, run, times)
            box = train(table, ["--task", table.task], folder)[1]["set"]
            if not box.startswith("l2:"): # many features: the ball of few
                box = f"l2:{5 / math.hypot(table.radius(), 1):.3g}"
            for label, flags in methods(table.task, box, len(learn_y)):
                row(label, lambda flags=flags: train(table, flags, folder)[0], RUNS)


if __name__ == "__main__":
    main()
