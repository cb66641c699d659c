"""Estimators release once for a budget, whoever asks: the object, its clones, copies, threads or processes."""

import copy
import json
import math
import multiprocessing
import os
import pickle
import random
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

try:
    import numpy as np
except ImportError:
    np = None

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
import darrm  # noqa: E402
from darrm import _estimators  # noqa: E402

VOTES = [[1, 1, 1, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]] * 4
OTHERS = [[0, 1, 0, 1, 0]] * 12


def vote(**options):
    return darrm.PrivateVote(**{"budget_eps": 1, "budget_delta": 0, "affected": 1, **options})


def clone(estimator):
    """What scikit-learn's clone does."""
    return type(estimator)(**{name: copy.deepcopy(value) for name, value in estimator.get_params(deep=False).items()})


def records(n=200, seed=1):
    rng = random.Random(seed)
    X = [[rng.uniform(0, 10), rng.uniform(0, 10)] for _ in range(n)]
    return X, [int(a > b) for a, b in X]


def model(kind=darrm.LogisticRegression, **options):
    if kind is darrm.LinearRegression:
        options = {"y_range": (0, 1), **options}
    return kind(**{"epsilon": 4, "delta": 1e-5, "scale": (0, 10), **options})


def elsewhere(estimator, queue):
    try:
        estimator.predict(VOTES)
        queue.put("released")
    except darrm.BudgetError as e:
        queue.put(str(e))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def ledger(self, eps=10, delta=1e-3):
        return darrm.Ledger.create(self.folder / "l.ledger", eps=eps, delta=delta)

    def charges(self, ledger):
        return [row["request"] for row in ledger.history().rows if row["kind"] == "charge"]


class Budget(Folder):
    def test_same_votes_same_labels(self):
        """12 fair coins would agree once in 4096 runs; the labels of ten calls always."""
        one = vote()
        labels = list(one.predict(VOTES))
        for other in (one, clone(one), clone(clone(one)), copy.copy(one)):
            for _ in range(3):
                self.assertEqual(list(other.predict([list(row) for row in VOTES])), labels)
        self.assertTrue(0.99 < one.cost["epsilon"] <= 1 and one.cost["delta"] == 0)
        self.assertEqual(one.released.labels, labels)

    def test_others_are_refused(self):
        one = vote()
        later = clone(one)  # a clone that was made before shares, too
        one.predict(VOTES)
        for other in (one, later, clone(one), copy.deepcopy(one), clone(one).set_params(budget_eps=0.1), vote(budget=one.budget)):
            with self.subTest(other=other), self.assertRaisesRegex(darrm.BudgetError, "has paid for its one release"):
                other.predict(OTHERS)
        with self.assertRaises(darrm.BudgetError):
            clone(one).set_params(affected=5).predict(VOTES)
        with self.assertRaises(darrm.BudgetError):
            one.predict(VOTES[:1])
        vote().predict(OTHERS)  # another object has a budget of its own

    def test_a_failure_spends_nothing(self):
        one = vote()
        for bad in ([[2, 0, 1]], [[1, None, 1]]):
            with self.assertRaises(darrm.InputError):
                one.predict(bad)
        one.predict(VOTES)

    def test_labels_of_one_charge(self):
        ledger = self.ledger()
        one = vote(ledger=ledger, request_id="march", queries=len(VOTES) + len(OTHERS))
        one.predict(VOTES)
        spent = ledger.show()["spent"]["epsilon"]
        clone(one).predict(OTHERS)
        self.assertEqual((ledger.show()["spent"]["epsilon"], ledger.show()["labels"][0]["left"]), (spent, 0))
        with self.assertRaisesRegex(darrm.BudgetError, "0 labels are left"):
            one.predict(VOTES[:2])
        clone(one).set_params(new_charge=True).predict(VOTES[:2])
        self.assertEqual([use["left"] for use in ledger.show()["labels"]], [0, len(VOTES) + len(OTHERS) - 2])

    def test_ledger(self):
        ledger = self.ledger(eps=2.5)
        one = vote(ledger=ledger, request_id="march")
        labels = list(one.predict(VOTES))
        self.assertEqual(list(clone(one).predict(VOTES)), labels)
        self.assertEqual(self.charges(ledger), ["march"])
        clone(one).predict(OTHERS)
        self.assertEqual(self.charges(ledger), ["march", "march-2"])
        self.assertEqual(ledger.show()["spent"]["epsilon"], 2 * one.cost["epsilon"])
        with self.assertRaisesRegex(darrm.BudgetError, "exceeded"):
            one.predict(VOTES[:3])
        self.assertEqual(list(one.predict(VOTES)), labels)  # which is still kept
        with self.assertRaisesRegex(darrm.BudgetError, "is not in this ledger"):
            one.set_params(ledger=str(ledger) + "2").predict(VOTES[:4])
        with self.assertRaisesRegex(darrm.BudgetError, "has paid for its one release"):
            one.set_params(ledger=None).predict(VOTES[:4])
        first = vote()
        first.predict(VOTES)
        with self.assertRaisesRegex(darrm.BudgetError, "is not in this ledger"):
            first.set_params(ledger=ledger).predict(OTHERS)

    def test_threads(self):
        """Ten threads that ask at once of clones get one release."""
        one, got = vote(), []
        makers = [threading.Thread(target=lambda e: got.append(tuple(e.predict(VOTES))), args=(clone(one),)) for _ in range(10)]
        for t in makers:
            t.start()
        for t in makers:
            t.join()
        self.assertEqual((len(got), len(set(got)), len(one.budget._paid)), (10, 1, 1))

    def test_pickled(self):
        one = vote()
        for spent in (False, True):
            with self.subTest(spent=spent), self.assertRaisesRegex(darrm.BudgetError, "from another process"):
                pickle.loads(pickle.dumps(one)).predict(VOTES)
            one.predict(VOTES)
        # Nothing of the votes is in the pickle: neither labels nor a digest.
        self.assertEqual(pickle.dumps(one), pickle.dumps(pickle.loads(pickle.dumps(one))))
        self.assertEqual(vars(pickle.loads(pickle.dumps(one)).budget)["_kept"], {})
        ledger = self.ledger()
        arrived = pickle.loads(pickle.dumps(vote(ledger=ledger)))
        arrived.predict(VOTES)
        self.assertEqual(len(self.charges(ledger)), 1)

    @unittest.skipUnless("fork" in multiprocessing.get_all_start_methods(), "no fork")
    def test_forked(self):
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=elsewhere, args=(vote(), queue))
        child.start()
        self.assertIn("from another process", queue.get(timeout=60))
        child.join()

    def test_no_random_state(self):
        for kind in (darrm.PrivateVote, darrm.LogisticRegression, darrm.LinearRegression, darrm.AUCRanker):
            self.assertNotIn("random_state", kind().get_params())
            self.assertIs(kind().get_params()["budget"].__deepcopy__({}).__class__, darrm.Budget)
            with self.assertRaisesRegex(ValueError, "Invalid parameter 'random_state'"):
                kind().set_params(random_state=1)

    def test_parameters_are_flags(self):
        """Every parameter of a vote is one of the program's, so that none is left unread."""
        flags = darrm.run("aggregate", "--help-all")
        for name in set(vote().get_params()) - {"budget"}:
            self.assertRegex(flags, rf"--{name.replace('_', '-')} ")

    def test_what_is_not_stated_is_asked_for(self):
        for one, word in ((darrm.PrivateVote(), "budget_eps"), (darrm.PrivateVote(budget_eps=1), "budget_delta must be given; a δ far below one over")):
            with self.assertRaisesRegex(darrm.UsageError, word):
                one.predict(VOTES)
        X, y = records()
        for one, word in (
            (model(epsilon=None), "epsilon"), (model(delta=None), "delta"), (model(scale=None), "radius"),
            (model(darrm.LinearRegression, y_range=None), "y_range"), (model(scale={"age": (0, 1)}), "'age'"),
            (model(classes=(0,)), "two or more"),
        ):
            with self.subTest(word=word), self.assertRaisesRegex(darrm.UsageError, word):
                one.fit(X, y)

    def test_too_much(self):
        X, y = records()
        for one, ask in ((vote(budget_eps=11), lambda e: e.predict(VOTES)), (model(epsilon=11), lambda e: e.fit(X, y))):
            with self.assertRaisesRegex(darrm.UsageError, "protects nobody"):
                ask(one)
            ask(one.set_params(accept_weak=True))

    def test_rest(self):
        ledger = self.ledger(eps=2)
        vote(ledger=ledger, budget_eps=0.5).predict(VOTES)
        one = vote(ledger=ledger, budget_eps="rest")
        self.assertEqual(len(one.predict(VOTES[:3])), 3)
        self.assertLess(ledger.show()["remaining"]["epsilon"], 0.01)
        one.predict(VOTES[:3])

    def test_teachers(self):
        one = vote()
        self.assertIs(one.fit(VOTES), one)
        self.assertEqual(one.n_features_in_, 5)
        with self.assertRaisesRegex(darrm.InputError, "4 features.*expecting 5"):
            one.predict([row[:4] for row in VOTES])

    def test_classes(self):
        one = vote(classes=["no", "yes", "perhaps"], budget_eps=10)
        got = one.fit_predict([["yes"] * 9, ["perhaps"] * 9])
        self.assertTrue(set(got) <= {"no", "yes", "perhaps"})


class Models(Folder):
    def test_fits_once(self):
        X, y = records()
        for kind in (darrm.LogisticRegression, darrm.LinearRegression, darrm.AUCRanker):
            with self.subTest(kind=kind):
                one = model(kind).fit(X, y)
                self.assertEqual(one.cost, {"epsilon": 4, "delta": 1e-05})
                self.assertEqual(clone(one).fit(X, y).model_, one.model_)
                for other in (one, clone(one), clone(one).set_params(epsilon=1)):
                    with self.assertRaises(darrm.BudgetError):
                        other.fit(X[:100], y[:100])
                with self.assertRaises(darrm.BudgetError):
                    one.fit(X, [1 - v for v in y])
                again = pickle.loads(pickle.dumps(one))  # a model that was paid for can be kept
                self.assertEqual(list(again.predict(X)), list(one.predict(X)))
                with self.assertRaises(darrm.BudgetError):
                    again.fit(X, y)

    def test_ledger(self):
        X, y = records()
        ledger = self.ledger(eps=9)
        one = model(ledger=ledger, request_id="a")
        one.fit(X, y).fit(X, y)
        clone(one).fit(X[1:], y[1:])
        self.assertEqual(self.charges(ledger), ["a", "a-2"])
        with self.assertRaisesRegex(darrm.BudgetError, "exceeded"):
            clone(one).fit(X[2:], y[2:])

    def test_program_predicts_the_same(self):
        X, y = records()
        one = model(classes=["no", "yes"]).fit(X, [["no", "yes"][v] for v in y])
        one.save(self.folder / "m.json")
        rows = "x0,x1\n" + "".join(f"{a!r},{b!r}\n" for a, b in X)
        said = json.loads(darrm.run("predict", "--json", "--data-format=csv", str(self.folder / "m.json"), "-", stdin=rows.encode()))
        self.assertEqual(list(one.predict(X)), [["no", "yes"][p] for p in said["predictions"]])
        self.assertEqual([p for _, p in one.predict_proba(X)], said["probabilities"])
        self.assertEqual(list(one.decision_function(X)), said["scores"])
        right = sum(["no", "yes"][v] == p for v, p in zip(y, one.predict(X))) / len(y)
        score = one.score(X, [["no", "yes"][v] for v in y])
        self.assertEqual((float(score), score.private, repr(score)), (right, False, f"{right!r} (not private)"))

    def test_good(self):
        """At ε = 10 on 2000 clear records all three are near the truth; without y in them none is."""
        X, y = records(2000)
        for kind, least in ((darrm.LogisticRegression, 0.9), (darrm.AUCRanker, 0.95), (darrm.LinearRegression, 0.4)):
            self.assertGreater(model(kind, epsilon=10).fit(X, y).score(X, y), least)

    def test_rules(self):
        """Ranges, words, missing cells, and names that flags could not carry."""
        odd = 'a=b,"c:ü'
        frame = Table([odd, "sex", "note", "id"], [[i % 100, ["f", "m", ""][i % 3], "x", i] for i in range(300)])
        y = [int(i % 100 > 50) for i in range(300)]
        one = model(scale={odd: (0, 100)}, categories={"sex": ["f", "m"]}, fill={"sex": "missing"}, columns=[odd, "sex"], epsilon=10)
        one.fit(frame, y)
        self.assertEqual(one.model_["columns"], [odd, "sex=f", "sex=m", "sex=missing"])
        self.assertGreater(one.score(frame, y), 0.8)
        self.assertEqual(len(one.predict(Table(["sex", odd], [["f", 3]]))), 1)  # columns are found by name
        with self.assertRaisesRegex(darrm.InputError, "column \"sex\".*\"f\", but it must be a finite number"):
            model(scale=(0, 9), columns=["sex"]).fit(frame, y)
        with self.assertRaisesRegex(darrm.InputError, "'id' has the name of an identifier"):
            model(scale=(0, 9)).fit(frame, y)

    def test_bad_cells(self):
        X, y = records(10)
        for rows, responses, said in (
            ([[float("nan"), 1]] * 10, y, "blank"), ([[float("inf"), 1]] * 10, y, "inf"), ([["word", 1]] * 10, y, "word"),
            (X, [2] * 10, "none of the classes"), (X, y[:9], "9 values"), ([[1]], y, "1 rows"), (X, [[1]] * 10, "one value"),
            (X, [1] * 9 + [float("nan")], "^row 9 has no y"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(darrm.InputError, said):
                model().fit(rows, responses)
        with self.assertRaisesRegex(darrm.InputError, "finite"):
            model(darrm.LinearRegression).fit(X, ["many"] * 10)
        for infinite in (math.inf, -math.inf, "1e999"):  # a number, and no word that categories would be for
            X[3][1] = infinite
            with self.subTest(infinite=infinite), self.assertRaisesRegex(darrm.InputError, '^row 3 of X, column "x1": value = .*finite number$'):
                model().fit(X, y)

    def test_coefficients_and_load(self):
        X, y = records()
        path = self.folder / "m.json"
        for one, names in ((model(), (0, 1)), (model(fit_intercept=False), (0, 1)), (model(classes=["a", "b", "c"]), "abc"),
                           (model(darrm.LinearRegression), None), (model(darrm.AUCRanker), (0, 1))):
            with self.subTest(one=one):
                one.fit(X, y if names != "abc" else [names[v] for v in y])
                one.save(path)
                again = darrm.load(path, classes=names)
                asked = (lambda e: e.decision_function(X)) if isinstance(one, darrm.AUCRanker) else (lambda e: e.predict(X))
                self.assertEqual(list(asked(again)), list(asked(one)))
                rows, last = one.coef_, one.intercept_
                if names is None:
                    rows, last = [rows], [last]
                self.assertEqual((len(rows), len(last)), (3 if names == "abc" else 1, 3 if names == "abc" else 1))
                flat = [float(v) for row, b in zip(rows, last) for v in [*row, *([b] if one.fit_intercept else [])]]
                self.assertEqual(flat, one.model_["model"])
                if names == (0, 1) and isinstance(one, darrm.LogisticRegression):  # mapped units, by hand
                    u = [v / 5 - 1 if one.model_["preparation"]["features"][0].get("center") != "zero" else v / 10 for v in X[0]]
                    z = sum(a * b for a, b in zip(u, rows[0]))
                    z = z * min(1, one.model_["radius"] / math.hypot(*u)) + float(last[0])
                    self.assertAlmostEqual(z, float(one.decision_function(X[:1])[0]), places=9)
        (self.folder / "no.json").write_text("[1]")
        (self.folder / "simulated.json").write_text('{"simulated_model": [1]}')
        for name, said in (("no.json", "no model"), ("simulated.json", "simulation"), ("absent.json", "absent.json")):
            with self.assertRaisesRegex(darrm.InputError, said):
                darrm.load(self.folder / name)

    def test_weights_of_samples_need_a_bound(self):
        X, y = records(30)
        with self.assertRaisesRegex(darrm.UsageError, "weight_bound must be given"):
            model().fit(X, y, sample_weight=[1] * 30)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'weights'"):
            model().fit(X, y, weights=[1] * 30)

    def test_progress(self):
        X, y = records(2000)
        told = []
        self.assertEqual(len(model().fit(X, y, progress=told.append).predict(X[:2])), 2)
        self.assertTrue(told and all(isinstance(t, dict) for t in told), told[:3])

    def test_rows_without_names_are_those_of_the_frame(self):
        X, y = records()
        one = model(scale={"a": (0, 10), "b": (0, 10)}).fit(Table(["a", "b"], X), y)
        with self.assertWarnsRegex(UserWarning, "does not have valid feature names"):
            self.assertEqual(list(one.predict(X)), list(one.predict(Table(["a", "b"], X))))

    def test_errors_are_in_words_of_python(self):
        X, y = records(30)
        X[4][1] = ""
        for options, said in (
            ({}, r'^row 4 of X, column "x1": the cell is blank.*\nhint: .*fill|^row 4 of X, column "x1": the cell is blank.*\(fill\)'),
            ({"scale": None}, "^scale or categories must be given for \"x0\", \"x1\", or radius"),
            ({"classes": None}, "^classes = None, but they must be the values that y can have"),
            ({"classes": "01"}, "^classes = '01'"),
            ({"fill": "missing"}, "^fill = 'missing', but it must be a dictionary by column"),
            ({"columns": "x0"}, "^columns = 'x0', but it must be a list of names"),
            ({"scale": [(0, 10)] * 3}, "^scale = .*, but it must be two numbers"),
            ({"scale": {"x0": (0, "a")}}, "^scale = .*, but it must be two numbers"),
            ({"center": "low"}, "center = .*low"),
            ({"neighbours": "add-remove"}, "^n must be given$"),
            ({"epsilon": -1}, "epsilon = -1, but it must be a finite number"),
            ({"delta": 0, "classes": ["no", "yes"]}, "^target delta = 0, but it must be above 0"),  # before what is wrong with y
            ({"classes": ["no", "yes"]}, "^Unknown label type: row 0 has y = [01], which is none of the classes"),
        ):
            with self.subTest(options=options), self.assertRaisesRegex(ValueError, said) as caught:
                model(**options).fit(X, y)
            self.assertNotIn("--", str(caught.exception))
            self.assertNotIn("LOW:HIGH", str(caught.exception))
            self.assertNotIn("line", str(caught.exception))

    def test_worthless_is_said(self):
        X, y = records(30)
        with self.assertWarnsRegex(UserWarning, "hardly better than a constant"):
            model(epsilon=0.1).fit(X, y)

    def test_zero_stays_zero(self):
        X, y = records(300)
        one = model(center="zero").fit(X, y)
        features = one.model_["preparation"]["features"]
        self.assertEqual([f["center"] for f in features], ["zero"] * len(features))
        self.assertEqual(list(one.decision_function([[0, 0]])), [one.intercept_[0]])

    def test_unfitted(self):
        with mock.patch.dict(sys.modules):
            sys.modules.pop("sklearn.exceptions", None)
            with self.assertRaisesRegex(darrm.UsageError, "not fitted"):
                model().predict([[1, 2]])

    def test_response_in_the_frame(self):
        """A response that is a column of the frame too is no feature; the given one counts."""
        class Named(list):
            name = "y"

        frame = Table(["x", "y"], [[i, i % 2] for i in range(100)])
        one = model(scale={"x": (0, 100)}, columns=["x"])
        one.fit(frame, Named(int(i > 50) for i in range(100)))
        self.assertEqual((one.model_["columns"], one.model_["response"]), (["x"], "y_"))
        one = model(scale={"x": (0, 100)}, epsilon=10).fit(Table(["x"], [[i] for i in range(100)]), [int(i > 50) for i in range(100)])
        self.assertEqual(one.model_["response"], "y")
        self.assertGreater(one.score(frame, [int(i > 50) for i in range(100)]), 0.6)  # not the frame's own y

    def test_toml(self):
        for value, text in (("a\"b\\\n", '"a\\"b\\\\\\n"'), ((0, 1.5), "[0, 1.5]"), (1e300, "1e+300"), (["x"], '["x"]')):
            self.assertEqual(_estimators._toml(value), text)


try:
    import onnx
    from onnx import numpy_helper
except ImportError:
    onnx = None


@unittest.skipIf(onnx is None, "onnx or NumPy is not installed")
class Graph(Folder):
    """The ONNX graph, by a second reading of the operators' definitions, predicts as the program does."""

    def run_graph(self, path, x):
        graph = onnx.load(path).graph
        values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        values[graph.input[0].name] = x
        operators = {
            "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Max": np.maximum, "Min": np.minimum,
            "Sqrt": np.sqrt, "MatMul": np.matmul, "Greater": np.greater, "Sigmoid": lambda z: 1 / (1 + np.exp(-z)),
            "Cast": lambda b: b.astype(np.int64), "Gather": lambda data, i: data[i], "Concat": lambda *a: np.concatenate(a, axis=1),
            "ReduceSum": lambda a, axes: a.sum(axis=tuple(axes), keepdims=True),
            "ArgMax": lambda z: z.argmax(axis=1)[:, None],
            "Softmax": lambda z: np.exp(z - z.max(axis=1, keepdims=True)) / np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True),
        }
        for node in graph.node:
            values[node.output[0]] = operators[node.op_type](*[values[i] for i in node.input])
        return {o.name: values[o.name] for o in graph.output}

    def test_predicts_as_the_program(self):
        X, y = records()  # predictions near 0 are differences of larger terms, whence atol
        x, path = np.array(X) * 2 - 5, str(self.folder / "m.onnx")  # beyond the range, too
        for intercept in (True, False):
            options = {"fit_intercept": intercept, "radius": 0.8}
            one = model(classes=["no", "yes"], **options).fit(X, [["no", "yes"][v] for v in y])
            one.to_onnx(path)
            got = self.run_graph(path, x)
            self.assertEqual(got["label"][:, 0].tolist(), list(one.predict(x)))
            np.testing.assert_allclose(got["probabilities"], one.predict_proba(x), rtol=1e-9, atol=1e-12)
            ranker = model(darrm.AUCRanker, scale=None, **options).fit(X, y)  # columns taken as they are
            ranker.to_onnx(path)
            np.testing.assert_allclose(self.run_graph(path, x)["score"][:, 0], ranker.predict(x), rtol=1e-9, atol=1e-12)
            line = model(darrm.LinearRegression, y_range=(-3, 8), **options).fit(X, y)
            line.to_onnx(path)
            np.testing.assert_allclose(self.run_graph(path, x)["prediction"][:, 0], line.predict(x), rtol=1e-9, atol=1e-12)
            three = model(classes=["a", "b", "c"], **options).fit(X, ["abc"[i % 2 + v] for i, v in enumerate(y)])
            three.to_onnx(path)
            got = self.run_graph(path, x)
            self.assertEqual(got["label"][:, 0].astype(str).tolist(), list(three.predict(x)))
            np.testing.assert_allclose(got["probabilities"], three.predict_proba(x), rtol=1e-9, atol=1e-12)
        numbers = model().fit(X, y)
        numbers.to_onnx(path)
        self.assertEqual(self.run_graph(path, x)["label"][:, 0].tolist(), list(numbers.predict(x)))

    def test_words_are_refused(self):
        one = model(scale=None, categories={0: ["f", "m"]}).fit([["f"], ["m"]] * 50, [0, 1] * 50)
        with self.assertRaisesRegex(darrm.UsageError, "'x0' has categories"):
            one.to_onnx(self.folder / "m.onnx")


class Table:
    """What pandas' frames look like, without pandas."""

    def __init__(self, columns, rows):
        self.columns, self._rows, self.index = columns, rows, range(len(rows))

    def itertuples(self, index, name):
        return (tuple(row) for row in self._rows)


@unittest.skipIf(np is None, "needs NumPy")
class TestWeights(unittest.TestCase):
    """Weights of records and classes: cut to a public bound, public, and refused in words."""

    def setUp(self):
        rng = np.random.default_rng(1)
        self.X = rng.uniform(-1, 1, (2000, 3))
        self.y = (self.X[:, 0] + 0.5 * rng.standard_normal(2000) > 0.4).astype(int)
        self.w = rng.uniform(0, 2, 2000)
        self.stated = {"delta": 1e-6, "scale": (-1, 1)}

    def test_weights_move_the_model(self):
        plain = darrm.LogisticRegression(3, **self.stated).fit(self.X, self.y)
        rare = darrm.LogisticRegression(3, class_weight={1: 4}, weight_bound=4, **self.stated).fit(self.X, self.y)
        self.assertGreater(rare.predict(self.X).mean(), plain.predict(self.X).mean() + 0.05)
        ones = np.where(self.y == 1, 4.0, 1.0)
        same = darrm.LogisticRegression(3, weight_bound=4, **self.stated).fit(self.X, self.y, sample_weight=ones)
        self.assertGreater(same.predict(self.X).mean(), plain.predict(self.X).mean() + 0.05)
        self.assertEqual(same.n_features_in_, 3)

    def test_refused(self):
        for message, call in (
            ("weight_bound", lambda m: m(2, **self.stated).fit(self.X, self.y, self.w)),
            ("5 values", lambda m: m(2, weight_bound=2, **self.stated).fit(self.X, self.y, self.w[:5])),
            ("dictionary", lambda m: m(2, class_weight="balanced", **self.stated).fit(self.X, self.y)),
            ("class 7", lambda m: m(2, class_weight={7: 1}, **self.stated).fit(self.X, self.y)),
            ("between 0", lambda m: m(2, weight_bound=2, **self.stated).fit(self.X, self.y, -self.w)),
        ):
            with self.assertRaisesRegex(darrm.DarrmError, message):
                call(darrm.LogisticRegression)


if __name__ == "__main__":
    unittest.main()
