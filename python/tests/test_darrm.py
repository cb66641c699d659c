"""The package around the program, which $DARRM names, or with $DARRM_INSTALLED the installed wheel carries."""

import doctest
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
import darrm  # noqa: E402

VOTES = [[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]]
TEACHERS = {"m": 3, "eps": 20, "teacher_delta": 0}  # at mε = 60 no noise: labels are majorities


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(darrm))
    return tests


class Solve(unittest.TestCase):
    def test_table(self):
        t = darrm.solve(K=11, m=3)
        self.assertAlmostEqual(t.error, 0.041269485245, places=11)
        self.assertEqual(len(t.gamma), 12)
        self.assertLess(t.gap, 1e-9)

    def test_saved_table_is_verified(self):
        t = darrm.solve(K=3, m=1, eps=1, teacher_delta=0)
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "t.json"
            t.save(path)
            self.assertEqual(darrm.verify(path)["gamma"], t.gamma)
        self.assertEqual(darrm.verify(t)["gamma"], t.gamma)

    def test_forged_table(self):
        t = darrm.solve(K=3, m=1, eps=1, teacher_delta=0)
        t.data["delta"], t.data["m"] = 0, 0.5
        with self.assertRaises(darrm.UncertifiedError) as e:
            darrm.verify(t)
        self.assertEqual((e.exception.kind, e.exception.exit_code), ("uncertified", 4))


    def test_progress(self):
        steps = []
        darrm.solve(K=101, m=5, no_cache=True, progress=steps.append)
        self.assertIn("round", steps[0]["text"])

    def test_plan(self):
        p = darrm.plan(K=9, eps="inf", affected=1, budget_eps=5, budget_delta=0, queries=5)
        self.assertIn("optimal", json.dumps(p))


class Aggregate(unittest.TestCase):
    def test_labels(self):
        r = darrm.aggregate(VOTES, **TEACHERS)
        self.assertEqual(r.labels, [1, 0, 1, 0])
        self.assertTrue(r.private)
        self.assertEqual(r.per_label, {"epsilon": 60, "delta": 0})

    def test_table(self):
        t = darrm.solve(K=3, **TEACHERS)
        self.assertEqual(darrm.aggregate(VOTES, table=t, eps=20, teacher_delta=0).labels, [1, 0, 1, 0])

    def test_every_column_of_an_array_votes(self):
        """A first column of 0 1 2 … is no id where the columns have no names: it is a wrong vote."""
        with self.assertRaises(darrm.InputError):
            darrm.aggregate([[0, 1, 1], [1, 0, 1], [2, 1, 0]], **TEACHERS)

    def test_file(self):
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "votes.csv"
            path.write_text("query,t1,t2,t3\na,1,1,0\nb,0,0,1\n")
            r = darrm.aggregate(path, **TEACHERS)
        self.assertEqual((r.queries, r.labels), (["a", "b"], [1, 0]))

    def test_classes(self):
        r = darrm.aggregate(
            [["cat", "cat", "dog"], ["bird", "bird", "bird"]], classes=["cat", "dog", "bird"],
            mechanism="permute-and-flip", total_eps=600, affected=1,
        )
        self.assertEqual(r.labels, ["cat", "bird"])

    def test_missing_vote(self):
        with self.assertRaises(darrm.InputError):
            darrm.aggregate([[1, float("nan"), 1]], **TEACHERS)

    def test_uneven_rows(self):
        with self.assertRaisesRegex(ValueError, "row 1 of the votes has 1 columns"):
            darrm.aggregate([[1, 0], [1]], **TEACHERS)

    def test_budget(self):
        with tempfile.TemporaryDirectory() as d:
            ledger = str(Path(d) / "l.ledger")
            darrm.run("budget", "init", ledger, "--eps", "61", "--delta", "0")
            charge = {"ledger": ledger, "teachers": "fresh"}
            r = darrm.aggregate(VOTES[:1], **TEACHERS, **charge, request_id="one")
            self.assertEqual(r.labels, [1])
            with self.assertRaises(darrm.BudgetError) as e:
                darrm.aggregate(VOTES[1:2], **TEACHERS, **charge, request_id="two")
            self.assertEqual(e.exception.kind, "budget")
            with self.assertRaises(darrm.BudgetError) as e:
                darrm.aggregate(VOTES[:1], **TEACHERS, **charge, request_id="one")
            self.assertIn("second release", e.exception.hint)


class Errors(unittest.TestCase):
    def test_usage_is_a_value_error(self):
        with self.assertRaises(ValueError) as e:
            darrm.solve(K=0, m=3)
        self.assertIsInstance(e.exception, darrm.UsageError)

    def test_no_such_file(self):
        with self.assertRaises(darrm.InputError):
            darrm.aggregate("/nowhere/votes.csv", **TEACHERS)

    def test_wrong_keyword_type(self):
        with self.assertRaisesRegex(TypeError, "eps"):
            darrm.solve(K=3, m=1, eps={})

    def test_large_votes_do_not_block(self):
        """More than a pipe holds, both ways."""
        r = darrm.aggregate(VOTES * 20000, **TEACHERS)
        self.assertEqual(r.labels, [1, 0, 1, 0] * 20000)


class Arrays(unittest.TestCase):
    def test_numpy(self):
        np = _module(self, "numpy")
        for dtype in (np.int8, np.float64, np.bool_):
            with self.subTest(dtype=dtype):
                self.assertEqual(darrm.aggregate(np.array(VOTES, dtype=dtype), **TEACHERS).labels, [1, 0, 1, 0])
        self.assertEqual(darrm.solve(K=np.int64(3), m=np.float64(1), eps=np.float32(1), teacher_delta=0).gamma[0], darrm.solve(K=3, m=1, eps=1, teacher_delta=0).gamma[0])

    def test_pandas(self):
        pd = _module(self, "pandas")
        frame = pd.DataFrame({"query": ["a", "b"], "t1": [1, 0], "t2": [1, 0], "t3": [0, 1]})
        r = darrm.aggregate(frame, **TEACHERS)
        self.assertEqual((r.queries, r.labels), (["a", "b"], [1, 0]))


def _module(test, name):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        test.skipTest(f"{name} is not installed")


if __name__ == "__main__":
    unittest.main()
