"""The package around the program, which $DARRM names, or with $DARRM_INSTALLED the installed wheel carries."""

import doctest
import json
import math
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
    tests.addTests(doctest.DocTestSuite(darrm, optionflags=doctest.ELLIPSIS))
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

    def test_own_mechanism(self):
        by_hand = darrm.certify(gamma=[0.7, 0.3, 0.1], K=5, affected=1, label_eps=1)
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "mine.json"
            form = {"k": 5, "affected": 1, "label_eps": 1, "gamma": [0.7, 0.3, 0.1]}
            path.write_text(json.dumps(form))
            for same in (darrm.certify(path), darrm.certify(form), darrm.certify(form, label_eps=1)):
                self.assertEqual(same.table.data, by_hand.table.data)
        self.assertEqual(darrm.verify(by_hand.table)["delta"], by_hand.per_label["delta"])
        released = darrm.aggregate([[1, 0, 1, 1, 1]] * 3, table=by_hand.table, affected=1)
        self.assertEqual((len(released.labels), released.per_label), (3, by_hand.per_label))

    def test_own_mechanism_of_many_classes(self):
        laws = {(2, 0, 0): [0.5, 0.2, 0.2, 0.1], (1, 1, 0): [0.35, 0.35, 0.2, 0.1]}
        mine = darrm.certify(histograms=laws, affected=1, delta=0)
        self.assertEqual(mine.table.data["abstain"], 0)
        self.assertAlmostEqual(mine.per_label["epsilon"], math.log(1.75), places=9)
        pairs = darrm.certify(histograms=list(laws.items())[::-1], affected=1, delta=0)
        self.assertEqual(pairs.table.data, mine.table.data)
        with self.assertRaisesRegex(darrm.InputError, r"histogram = \[1 1 0\], but it must be among those"):
            darrm.certify(histograms={(2, 0, 0): [0.5, 0.25, 0.25]}, delta=0)
        with self.assertRaisesRegex(darrm.InputError, "JSON has no NaN"):
            darrm.certify(gamma=[math.nan], K=1, delta=0)
        with self.assertRaises(darrm.UncertifiedError):
            darrm.certify(gamma=[1], K=1, delta=0)
        with self.assertRaises(TypeError):
            darrm.certify(gamma=[1], histograms=laws, delta=0)
        with self.assertRaisesRegex(TypeError, "gamma="):
            darrm.certify([0.7, 0.3, 0.1], K=5, delta=0)

    def test_compare_with_tables(self):
        mine = darrm.certify(gamma=[0.7, 0.3, 0.1], K=5, affected=1, label_eps=1)
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "mine.json"
            mine.table.save(path)
            got = darrm.compare([[1, 0, 1, 1, 1]], tables=[mine, mine.table, path])
            self.assertEqual([r["title"] for r in got.rows][:3], ["table 1", "table 2", f"table, {path}"])
            self.assertEqual([round(r["score.agreement"], 12) for r in got.rows[:3]], [0.65] * 3)

    def test_progress(self):
        steps = []
        darrm.solve(K=101, m=5, no_cache=True, progress=steps.append)
        self.assertIn("round", steps[0]["text"])

    def test_plan(self):
        p = darrm.plan(K=9, eps="inf", affected=1, budget_eps=5, budget_delta=0, queries=5)
        self.assertIn("optimal", json.dumps(p))


class Aggregate(unittest.TestCase):
    def test_simulation(self):
        options = {"classes": ["cat", "dog"], "mechanism": "permute-and-flip", "label_eps": 600, "affected": 1, "accept_weak": True}
        got = darrm.aggregate([["cat", "cat", "dog"]], insecure_seed=1, **options)
        self.assertEqual((got.labels, got.private), (["cat"], False))

    def test_labels(self):
        r = darrm.aggregate(VOTES, **TEACHERS, accept_weak=True)
        self.assertEqual(r.labels, [1, 0, 1, 0])
        self.assertTrue(r.private)
        self.assertEqual(r.per_label, {"epsilon": 60, "delta": 0})

    def test_table(self):
        t = darrm.solve(K=3, **TEACHERS)
        self.assertEqual(darrm.aggregate(VOTES, table=t, eps=20, teacher_delta=0, accept_weak=True).labels, [1, 0, 1, 0])

    def test_every_column_of_an_array_votes(self):
        """A first column of 0 1 2 … is no id where the columns have no names: it is a wrong vote."""
        with self.assertRaises(darrm.InputError):
            darrm.aggregate([[0, 1, 1], [1, 0, 1], [2, 1, 0]], **TEACHERS, accept_weak=True)

    def test_file(self):
        with tempfile.TemporaryDirectory() as d:
            path = Path(d) / "votes.csv"
            path.write_text("query,t1,t2,t3\na,1,1,0\nb,0,0,1\n")
            r = darrm.aggregate(path, **TEACHERS, accept_weak=True)
        self.assertEqual((r.queries, r.labels), (["a", "b"], [1, 0]))

    def test_classes(self):
        r = darrm.aggregate(
            [["cat", "cat", "dog"], ["bird", "bird", "bird"]], classes=["cat", "dog", "bird"],
            mechanism="permute-and-flip", label_eps=600, affected=1, accept_weak=True,
        )
        self.assertEqual(r.labels, ["cat", "bird"])

    def test_missing_vote(self):
        with self.assertRaises(darrm.InputError):
            darrm.aggregate([[1, float("nan"), 1]], **TEACHERS, accept_weak=True)

    def test_uneven_rows(self):
        with self.assertRaisesRegex(ValueError, "row 1 of the votes has 1 columns"):
            darrm.aggregate([[1, 0], [1]], **TEACHERS, accept_weak=True)

    def test_budget(self):
        with tempfile.TemporaryDirectory() as d:
            ledger = str(Path(d) / "l.ledger")
            darrm.run("budget", "init", ledger, "--eps", "61", "--delta", "0")
            charge = {"ledger": ledger, "teachers": "fresh"}
            r = darrm.aggregate(VOTES[:1], **TEACHERS, accept_weak=True, **charge, request_id="one")
            self.assertEqual(r.labels, [1])
            with self.assertRaises(darrm.BudgetError) as e:
                darrm.aggregate(VOTES[1:2], **TEACHERS, accept_weak=True, **charge, request_id="two")
            self.assertEqual(e.exception.kind, "budget")
            with self.assertRaises(darrm.BudgetError) as e:
                darrm.aggregate(VOTES[:1], **TEACHERS, accept_weak=True, **charge, request_id="one")
            self.assertIn("second release", e.exception.hint)


class Rows(unittest.TestCase):
    """Votes as Python has them."""

    RELEASE = {"mechanism": "permute-and-flip", "label_eps": 600, "affected": 1, "accept_weak": True}  # so large that nothing is hidden

    def test_names_as_votes_are_no_header(self):
        votes = [["cat", "cat", "dog"], ["bird", "bird", "bird"]]
        for more in ({}, {"K": 3}):
            r = darrm.aggregate(votes, classes=["cat", "dog", "bird"], **more, **self.RELEASE)
            self.assertEqual(r.labels, ["cat", "bird"])

    def test_counts(self):
        for more in ({}, {"K": 4}):
            r = darrm.aggregate([[3, 1], [0, 4]], layout="counts", classes=["no", "yes"], **more, **self.RELEASE)
            self.assertEqual(r.labels, ["no", "yes"])

    def test_a_row_for_each_teacher(self):
        r = darrm.aggregate([[1, 0], [1, 0], [0, 0]], layout="teachers", **self.RELEASE)
        self.assertEqual(r.labels, [1, 0])

    def test_truth_beside_the_votes(self):
        r = darrm.compare([[1, 1, 0, 0], [0, 0, 0, 0]], label_column=4, eps="inf", affected=1, label_eps=1)
        self.assertEqual((r["k"], r["plain_majority"]["accuracy"]), (3, 0.5))

    def test_classes_as_numbers(self):
        r = darrm.aggregate([[0, 3, 3], [2, 2, 1]], classes=range(4), **self.RELEASE)
        self.assertEqual(r.labels, [3, 2])

    def test_what_are_no_rows(self):
        for votes in ({"a": [1]}, [1, 0, 1], ["101"], b"101", 7, None):
            with self.subTest(votes=votes), self.assertRaises(TypeError):
                darrm.aggregate(votes, **self.RELEASE)
        with self.assertRaisesRegex(ValueError, "no votes"):
            darrm.aggregate([], **self.RELEASE)


class SeveralLabels(unittest.TestCase):
    """Questions with several yes/no labels; next to no noise, so that the answers are those of the votes that count."""

    SURE = {"labels": ["cat", "dog", "bird"], "most_yes": 1, "missing": "no", "mechanism": "permute-and-flip", "label_eps": 200,
            "affected": 1, "accept_weak": True}
    VOTES = [[["cat", "dog"], {"dog", "cat"}, None, []], [("bird",), ["bird", "dog"], ["bird"], []]]
    # the first label of each vote counts: cat for two of four is a tie, which a table breaks either way
    WANT = {"dog": 0, "bird": 0}, {"cat": 0, "dog": 0, "bird": 1}

    def check(self, released, ids=("0", "1"), want=WANT):
        self.assertEqual(tuple(released.questions), ids)
        for got, right in zip(released.questions.values(), want):
            self.assertEqual(list(got), ["cat", "dog", "bird"])
            self.assertEqual({name: got[name] for name in right}, right)

    def test_sets(self):
        votes = [[c for c in row] for row in self.VOTES]
        # of a set the program counts the first by the order of labels: bird comes after dog
        want = self.WANT[0], {"cat": 0, "dog": 0}
        self.check(darrm.aggregate(votes, **self.SURE), want=want)
        self.check(darrm.aggregate([["cat|dog", "cat", "", ""], ["bird"] * 4], **self.SURE))
        two = darrm.aggregate([["cat+dog", ["cat"], {"dog", "cat"}, ["dog"]]], separator="+", **{**self.SURE, "most_yes": 2})
        self.assertEqual(two.questions, {"0": {"cat": 1, "dog": 1, "bird": 0}})
        cost = darrm.price(votes, **{**self.SURE, "label_eps": 0.5})
        self.assertEqual((cost["queries"], cost["all_labels_fresh_teachers"]["epsilon"]), (6, 2))  # two questions of two answers

    def test_yes_from(self):
        sure = {"mechanism": "permute-and-flip", "label_eps": 200, "affected": 1, "accept_weak": True}
        votes = [[1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0]]
        for start, want in ((2, ["1", "0", "1"]), ("1/6", ["1", "1", "1"]), (5, ["0", "0", "1"])):
            self.assertEqual([str(x) for x in darrm.aggregate(votes, yes_from=start, **sure).labels], want)
        plan = darrm.plan(K=6, queries=3, budget_eps=3, budget_delta=1e-5, affected=1, yes_from="1/6")
        self.assertEqual((plan["k"], plan["several"]), (6, {"yes_from": "1", "teachers": 6}))
        self.assertEqual(plan.options["yes_from"], "1/6")
        with self.assertRaisesRegex(ValueError, "yes_from|yes from"):
            darrm.price(votes, yes_from=7, **sure)

    def test_table_of_each_label(self):
        by = {"K": 3, "data": "disjoint", "queries": 2, "budget_eps": 3, "budget_delta": 1e-4}
        table = darrm.solve(labels=["cat", "dog"], shares={"cat": 0.05, "dog": 0.4}, **by)
        self.assertEqual((table.data["labels"], table.data["yes_shares"]), (2, [0.05, 0.4]))
        self.assertEqual(darrm.verify(table)["hash"], table.data["hash"])
        self.assertAlmostEqual(table.error, 1 - table.data["value"])
        with self.assertRaisesRegex(darrm.UsageError, "label dog has none"):
            darrm.solve(labels=["cat", "dog"], shares={"cat": 0.05}, **by)

    def test_arrays(self):
        numpy = _module(self, "numpy")
        array = numpy.zeros((2, 4, 3))
        array[0, :3, 1] = array[1, :, 2] = array[0, 3, 0] = 1
        want = {"cat": 0, "dog": 1, "bird": 0}, {"cat": 0, "dog": 0, "bird": 1}
        for given in (array, array.astype(bool), array.astype("int8")):
            self.check(darrm.aggregate(given, **self.SURE), want=want)
        numbered = darrm.aggregate(array, **{**self.SURE, "labels": None, "num_labels": 3})
        self.assertEqual(numbered.questions["0"], {"0": 0, "1": 1, "2": 0})
        array[1, 1, 1] = 2
        for bad in (array, array[:, :, :2]):
            with self.assertRaises(darrm.InputError):
                darrm.aggregate(bad, **self.SURE)

    def test_frames(self):
        pd = _module(self, "pandas")
        frame = pd.DataFrame({"t1": [["cat"], ["bird"]], "t2": ["cat|dog", "bird"], "t3": [["cat"], {"bird"}]}, index=["a", "b"])
        released = darrm.aggregate(frame, **self.SURE)
        self.check(released, ("a", "b"), ({"cat": 1, "dog": 0, "bird": 0}, self.WANT[1]))
        self.assertEqual(list(released.to_series().index), ["a/cat", "a/dog", "a/bird", "b/cat", "b/dog", "b/bird"])

    def test_refused(self):
        for bad, options in (([[["cow"], ["cat"]]], {}), ([[["cat|dog"], ["cat"]]], {}), ([[["cat"], [""]]], {}),
                             ([[[], ["cat"]]], {"missing": None}), ([[["cat"], None]], {"missing": None})):
            with self.subTest(bad=bad), self.assertRaises(darrm.InputError):
                darrm.aggregate(bad, **{**self.SURE, **options})
        with self.assertRaises(darrm.DarrmError):
            darrm.aggregate(self.VOTES, **{**self.SURE, "most_yes": 0})
        with self.assertRaises(ValueError):
            darrm.aggregate([[0, 1, 1]], label_eps=1, affected=1).questions


class Reports(unittest.TestCase):
    def test_price(self):
        t = darrm.solve(K=3, **TEACHERS)
        for more in (TEACHERS, {"table": t, "eps": 20, "teacher_delta": 0}):
            p = darrm.price(VOTES, accept_weak=True, **more)
            self.assertEqual((p["dry_run"], p["per_label"]), (True, {"epsilon": 60, "delta": 0}))
            self.assertNotIn("labels", p)
        with self.assertRaisesRegex(TypeError, "price"):
            darrm.aggregate(VOTES, dry_run=True, **TEACHERS, accept_weak=True)

    def test_account(self):
        r = darrm.account(K=9, label_eps=0.1, eps="inf", affected=1, queries=[1, 50], slack=1e-6)
        self.assertEqual([row["queries"] for row in r.rows], [1, 50])
        self.assertLessEqual(r.rows[0]["epsilon"], 0.1)
        self.assertLess(r.rows[1]["epsilon"], 50 * 0.1)

    def test_describe(self):
        r = darrm.describe(VOTES)
        self.assertEqual((r["private"], r["queries"], r["k"], r["histogram"]), (False, 4, 3, [1, 1, 1, 1]))
        self.assertEqual(len(r.rows), 3)

    def test_plan_is_what_aggregate_takes(self):
        p = darrm.plan(K=3, eps="inf", affected=1, budget_eps=40, budget_delta=0, queries=4)
        self.assertEqual(darrm.aggregate(VOTES, **p.options, accept_weak=True).per_label, p["choices"][0]["per_label"])
        self.assertNotIn("out", p.options)
        with self.assertRaisesRegex(darrm.UsageError, "budget"):  # nothing fits
            darrm.plan(K=3, eps="inf", affected=1, budget_eps=1e-6, budget_delta=0, queries=1000)

    def test_file_of_labels(self):
        with tempfile.TemporaryDirectory() as d:
            ledger = darrm.Ledger.create(Path(d) / "l.ledger", eps=300, delta=0)
            release = {**TEACHERS, "accept_weak": True, "ledger": ledger, "teachers": "fresh", "request_id": "one", "out": Path(d) / "labels.json"}
            first = darrm.aggregate(VOTES, **release)
            self.assertEqual(first.labels, [1, 0, 1, 0])
            self.assertEqual(darrm.aggregate(VOTES, **release), first)  # the same request: no second charge
            self.assertEqual(ledger.show()["spent"]["epsilon"], 240)
            with self.assertRaisesRegex(darrm.UsageError, "json"):
                darrm.aggregate(VOTES, out="labels.parquet", **TEACHERS, accept_weak=True)

    def test_months_of_one_charge(self):
        march = [["a", "a", "b", "a", "c"], ["b", "b", "b", "a", "b"]]
        with tempfile.TemporaryDirectory() as d:
            ledger = darrm.Ledger.create(Path(d) / "l.ledger", eps=7, delta=0)

            def month(name, rows, **options):
                return darrm.aggregate(
                    rows, classes=["a", "b", "c"], affected=1, budget_eps=3, budget_delta=0, queries=5,
                    ledger=ledger, request_id=name, out=Path(d) / f"{name}.json", **options
                )  # fmt: skip

            first = month("march", march)
            month("april", march)
            self.assertEqual((first, ledger.show()["spent"]["epsilon"]), (month("march", march), 3))
            charge = ledger.show()["labels"][0]
            self.assertEqual((charge["labels"], charge["taken"], charge["left"]), (5, 4, 1))
            with self.assertRaisesRegex(darrm.BudgetError, "1 label is left of the charge .* and 2 are asked for"):
                month("may", march)
            self.assertFalse((Path(d) / "may.json").exists())
            month("may", march, new_charge=True)
            self.assertEqual(ledger.show()["spent"]["epsilon"], 6)

    def test_ledger(self):
        with tempfile.TemporaryDirectory() as d:
            ledger = darrm.Ledger.create(Path(d) / "--odd.ledger", eps=300, delta=1e-6, neighbours="replace")
            darrm.aggregate(VOTES, ledger=ledger, teachers="fresh", request_id="one", **TEACHERS, accept_weak=True)
            again = darrm.Ledger(os.fspath(ledger))
            self.assertEqual(again.show()["remaining"], {"epsilon": 60, "delta": 1e-6})
            rows = again.history().rows
            self.assertEqual([row["kind"] for row in rows], ["charge", "result"])
            self.assertEqual((rows[0]["request"], rows[0]["total.epsilon"], rows[0]["event.queries"]), ("one", 240, 4))
            self.assertTrue(again.verify()["verified"])
            page = Path(d) / "page.html"
            self.assertEqual(again.report(page).rows[0]["cost.epsilon"], 240)
            self.assertIn("<html", page.read_text(encoding="utf-8"))
            with self.assertRaises(darrm.DarrmError):
                darrm.Ledger.create(ledger, eps=1, delta=0)


class Errors(unittest.TestCase):
    def test_usage_is_a_value_error(self):
        with self.assertRaises(ValueError) as e:
            darrm.solve(K=0, m=3)
        self.assertIsInstance(e.exception, darrm.UsageError)

    def test_no_such_file(self):
        with self.assertRaises(darrm.InputError):
            darrm.aggregate("/nowhere/votes.csv", **TEACHERS, accept_weak=True)

    def test_wrong_keyword_type(self):
        with self.assertRaisesRegex(TypeError, "eps"):
            darrm.solve(K=3, m=1, eps={})

    def test_large_votes_do_not_block(self):
        """More than a pipe holds, both ways."""
        r = darrm.aggregate(VOTES * 20000, **TEACHERS, accept_weak=True)
        self.assertEqual(r.labels, [1, 0, 1, 0] * 20000)


class Arrays(unittest.TestCase):
    def test_numpy(self):
        np = _module(self, "numpy")
        for dtype in (np.int8, np.float64, np.bool_):
            with self.subTest(dtype=dtype):
                self.assertEqual(darrm.aggregate(np.array(VOTES, dtype=dtype), **TEACHERS, accept_weak=True).labels, [1, 0, 1, 0])
        self.assertEqual(darrm.solve(K=np.int64(3), m=np.float64(1), eps=np.float32(1), teacher_delta=0).gamma[0], darrm.solve(K=3, m=1, eps=1, teacher_delta=0).gamma[0])

    def test_pandas(self):
        pd = _module(self, "pandas")
        frame = pd.DataFrame({"query": ["a", "b"], "t1": [1, 0], "t2": [1, 0], "t3": [0, 1]})
        r = darrm.aggregate(frame, **TEACHERS, accept_weak=True)
        self.assertEqual((r.queries, r.labels), (["a", "b"], [1, 0]))
        got = r.to_frame()
        self.assertEqual((list(got.columns), got["label"].tolist()), (["query", "label"], [1, 0]))

    def test_pandas_index(self):
        pd = _module(self, "pandas")
        frame = pd.DataFrame(VOTES)  # columns 0, 1, 2: names that look like votes
        self.assertEqual(darrm.aggregate(frame, **TEACHERS, accept_weak=True).labels, [1, 0, 1, 0])
        self.assertEqual(darrm.aggregate(frame[frame[2] == 1], **TEACHERS, accept_weak=True).queries, ["0", "2"])
        frame.index = pd.Index(list("wxyz"), name="scan")
        r = darrm.aggregate(frame.astype("Int64"), **TEACHERS, accept_weak=True)
        self.assertEqual((r.queries, r.labels), (list("wxyz"), [1, 0, 1, 0]))
        self.assertEqual(darrm.aggregate(frame.astype(bool), **TEACHERS, accept_weak=True).labels, [1, 0, 1, 0])
        missing = frame.astype("Int64")
        missing.loc["x", 1] = pd.NA
        with self.assertRaisesRegex(darrm.InputError, "missing"):
            darrm.aggregate(missing, **TEACHERS, accept_weak=True)

    def test_frames_of_results(self):
        pd = _module(self, "pandas")
        self.assertEqual(darrm.solve(K=3, **TEACHERS).to_frame()["gamma"].tolist(), [1, 1, 1, 1])
        frame = darrm.compare(VOTES, eps="inf", affected=1, label_eps=1).to_frame()
        self.assertIsInstance(frame, pd.DataFrame)
        self.assertTrue((frame["score.agreement"].dropna() <= 1).all())
        self.assertEqual(len(darrm.account(K=9, label_eps=0.1, eps="inf", affected=1, queries=[1, 5]).to_frame()), 2)


def _module(test, name):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        test.skipTest(f"{name} is not installed")


if __name__ == "__main__":
    unittest.main()
