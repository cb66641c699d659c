"""Predictions by NumPy are the program's, to the last digit."""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
import darrm  # noqa: E402
from darrm import _estimators, _predict, _tables  # noqa: E402
from darrm._rows import to_csv  # noqa: E402

try:
    import numpy as np
except ImportError:
    np = None

LINKS = [("logistic", "logit"), ("hinge", "sign"), ("ridge", "identity"), ("phase-retrieval", "square"), ("auc", "rank")]


def made_up(rng, several, ruled):
    """A model of a random kind, and the names of a table's columns."""
    d = rng.choice([1, 2, 5, 9])
    task, link = rng.choice(LINKS) if not several else rng.choice([("softmax:3", "softmax"), ("logistic", "logit"), ("hinge", "sign")])
    if link == "rank":
        task = "logistic"
    columns, names = [], []
    for j in range(d):
        c = {"name": f"c{j}"}
        kind = rng.choice(["plain", "scale", "scale", "zero", "words", "numbers"]) if ruled else "plain"
        if kind in ("scale", "zero"):
            c["scale"] = [rng.choice([0, -3, -0.1]), rng.choice([1, 7.3, 1e3])]
            if kind == "zero":
                c["center"] = "zero"
        if kind == "words":
            c["categories"] = ["a", "b c", "é"] + rng.choice([[], ["missing"], ["NA"]])
        if kind == "numbers":
            c["categories"] = ["1", "0"]
        if kind != "plain" and rng.random() < 0.6:
            c["fill"] = rng.choice(["missing", c["categories"][1]] if "categories" in c else ["missing", "0.3"])
        columns.append(c)
        words = c.get("categories")
        names += [f"c{j}={w}" for w in words] if words else [f"c{j}"]
        if c.get("fill") == "missing" and "missing" not in (words or ()):
            names.append(f"c{j}=missing")
    model = {"task": task, "link": link, "columns": names, "intercept": rng.random() < 0.7}
    if several:
        model["classes"] = ["x", "y", "z"]
    width = (len(names) + model["intercept"]) * (3 if several else 1)
    model["model"] = [rng.gauss(0, 1) * rng.choice([1, 1, 300]) for _ in range(width)]
    if ruled:
        model["preparation"] = {"features": columns}
        model["response"] = "y"
        if link == "identity":
            model["preparation"]["response"] = {"name": "y", "scale": [-3.7, 12]}
        elif not several:
            model["preparation"]["response"] = {"name": "y"}
    if rng.random() < 0.6:
        model["radius"] = rng.choice([0.3, 2, 1e9])
        if rng.random() < 0.3:
            model["radius_norm"] = rng.choice(["inf", "1"])
    return model, [c for c in columns]


def cell(rng, c):
    if "fill" in c and rng.random() < 0.2:
        return rng.choice(["", "?"]) if c.get("categories") and "1" not in c["categories"] else ""
    if "categories" in c:
        return rng.choice([1, 0, 2, 0.5]) if "1" in c["categories"] else rng.choice(c["categories"] + [" a ", "other", ""])
    return rng.choice([rng.uniform(-5, 12), rng.randint(-3, 8), 0.1, -0.0, 1e-200])


@unittest.skipIf(np is None, "NumPy is not installed")
class Predictions(unittest.TestCase):
    def said(self, model, form, pieces):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            path.write_text(json.dumps(model), encoding="utf-8")
            return json.loads(darrm.run("predict", "--json", f"--data-format={form}", "--", str(path), "-", stdin=pieces))

    def same(self, got, want, model):
        for name in ("predictions", "scores", "probabilities", "class_scores", "class_probabilities"):
            self.assertEqual(name in got, name in want, (name, model))
            if name in got:
                a, b = np.asarray(got[name], dtype=float), np.asarray(want[name], dtype=float)
                wrong = np.nonzero(a != b)
                self.assertEqual(len(wrong[0]), 0, f"{name}: {a[wrong][:3]!r} and {b[wrong][:3]!r} of {json.dumps(model)}")

    def test_equal_to_the_last_digit(self):
        rng, rows = random.Random(7), 0
        for i in range(60):
            model, columns = made_up(rng, several=i % 3 == 0, ruled=i % 4 != 0)
            names = [c["name"] for c in columns]
            cells = [[cell(rng, c) for c in columns] for _ in range(rng.choice([1, 2, 400]))]
            rng.shuffle(names)
            at = [int(n[1:]) for n in names]
            table = _tables.read([[row[j] for j in at] for row in cells], "X")
            self.same(_predict.predict(model, names, table.cells), self.said(model, "csv", to_csv(names, table.cells)), model)
            rows += len(cells)
            try:
                X = np.array([[math.nan if v == "" else v for v in row] for row in table.cells], dtype=float)
            except ValueError:
                continue
            form, pieces = _estimators._records(names, _tables.Rows(names, X))
            self.assertEqual(form, "npy")
            self.same(_predict.predict(model, names, X), self.said(model, form, pieces), model)
        self.assertGreater(rows, 5000)

    def test_many_rows(self):
        rng = np.random.default_rng(3)
        X = rng.normal(0, 4, (3 * _predict._BLOCK + 1, 40))
        columns = [{"name": f"x{j}", "scale": [-5, 7.7]} for j in range(40)]
        model = {
            "task": "softmax:3", "link": "softmax", "columns": [c["name"] for c in columns], "intercept": True, "radius": 2,
            "classes": ["x", "y", "z"], "preparation": {"features": columns}, "model": rng.normal(0, 3, 123).tolist(),
        }
        names = model["columns"]
        _, pieces = _estimators._records(names, _tables.Rows(names, X))
        self.same(_predict.predict(model, names, X), self.said(model, "npy", pieces), model)

    def test_labels_are_those_of_the_program(self):
        rng = np.random.default_rng(5)
        for classes in ([], ["x", "y", "z"]):
            for radius in (0, 2, 30):
                columns = [{"name": f"x{j}", "scale": [1e6 + 0.1, 1e6 + 1.3] if j % 2 else [0.1, 0.8]} for j in range(7)]
                weights = rng.integers(-2, 3, max(1, len(classes)) * 8) / 4
                model = {
                    "task": "softmax:3" if classes else "logistic", "link": "softmax" if classes else "logit", "model": weights.tolist(),
                    "columns": [c["name"] for c in columns], "intercept": True, "preparation": {"features": columns},
                }
                model.update({"classes": classes} if classes else {}, **({"radius": radius} if radius else {}))
                # Cells on a grid: scores that are 0, and classes that are level, are frequent; some are beyond the range.
                X = np.column_stack([rng.integers(-3, 12, 5000) * (c["scale"][1] - c["scale"][0]) / 8 + c["scale"][0] for c in columns])
                got = _predict.labels(model, model["columns"], X)
                np.testing.assert_array_equal(got, _predict.predict(model, model["columns"], X)["predictions"])
                X[17, 3] = math.nan
                self.assertIsNone(_predict.labels(model, model["columns"], X))
                X[17, 3] = math.inf
                self.assertIsNone(_predict.labels(model, model["columns"], X))

    def test_exp(self):
        x = np.concatenate([np.linspace(-750, 720, 20001), [0, -0.0, 1e-300, -1e-9]])
        y = _predict.exp(np, x)
        want = np.array([0 if v < -740 else math.exp(min(v, 709)) for v in x])
        self.assertLess(np.max(np.abs(y - want) / np.maximum(want, 1e-300)), 3e-16)

    def test_what_is_refused_is_asked_of_the_program(self):
        model = {"task": "logistic", "link": "logit", "columns": ["a"], "intercept": False, "model": [1.0]}
        for cells in ([[""]], [["1.5"]], np.array([[math.nan]]), np.array([[math.inf]]), np.array([[1e60]])):
            with self.assertRaises(_predict.Elsewhere):
                _predict.predict(model, ["a"], cells)
        with self.assertRaises(_predict.Elsewhere):
            _predict.predict({**model, "task": "network:3", "model": [1.0] * 7}, ["a"], np.array([[1.0]]))


if __name__ == "__main__":
    unittest.main()
