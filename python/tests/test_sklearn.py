"""scikit-learn's own checks of estimators, and what the estimators do in its hands."""

import os
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
import darrm  # noqa: E402

try:
    import numpy as np
    import sklearn
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    sklearn = None

# What cannot hold, and why; docs/python.md has the same list. A check that fails and is not here
# fails the test, and so does one that is here and holds.
BUDGET = {"check_parameters_default_constructible": "the budget is a parameter that is made where none is given"}
WEIGHTS = {
    "check_sample_weights_" + name: "weights go with a stated bound, which the checks do not state"
    for name in ("invariance", "list", "not_an_array", "not_overwritten", "pandas_series", "shape")
}
TRAINED = {
    **BUDGET,
    "check_estimators_nan_inf": "a NaN is refused as a blank cell, which the check wants to be called NaN",
    "check_supervised_y_2d": "a response of several columns is refused, not flattened with a warning",
}
LISTED = {
    "Voted": {
        **BUDGET,
        "check_estimators_nan_inf": "fit looks at no vote",
        "check_estimators_pickle": "a pickle keeps neither labels nor a digest of the votes they are for",
    },
    "LogisticRegression": TRAINED,
    "AUCRanker": {k: v for k, v in TRAINED.items() if k != "check_supervised_y_2d"},  # which is for classifiers
    "LinearRegression": {**TRAINED, **WEIGHTS},
}
# With 10 or 20 records the noise decides: it may leave one class alone, or predict one that no record has.
BY_CHANCE = {"check_classifiers_classes", "check_classifiers_one_label"}


class Unlimited(darrm.Budget):
    """A budget for as many releases as a check likes."""

    def _check(self, ledger):
        pass


if sklearn is not None:

    class Voted(darrm.PrivateVote):
        """Takes the checks' random numbers as votes: 1 where one is positive."""

        def fit(self, votes, y=None):
            return super().fit(votes_of(votes))

        def predict(self, votes):
            return super().predict(votes_of(votes))

    def votes_of(numbers):
        try:
            a = np.asarray(numbers)
            if a.ndim != 2 or a.dtype.kind not in "fiuO" or not np.isfinite(a.astype(float)).all():
                return numbers
        except (TypeError, ValueError):
            return numbers
        return (a > 0).astype(int)

    def labelled(kind):
        """The kind with the classes that the checks use, which differ from check to check: 0 and 1 stand for them."""

        class Labelled(kind):
            def fit(self, X, y=None):
                y, known = np.asarray(y) if y is not None else None, np.array([0, 1])
                if y is not None and y.ndim == 1 and (y.dtype.kind in "iuU" or y.dtype.kind == "O" and isinstance(y[0], str)):
                    known = np.unique(y)
                    y = np.searchsorted(known, y)
                super().fit(X, y)
                self.known_ = known
                return self

            def predict(self, X):
                said = super().predict(X)
                return self.known_[np.minimum(said, len(self.known_) - 1)] if self._task == "logistic" else said

            @property
            def classes_(self):
                return self.known_

        Labelled.__name__ = Labelled.__qualname__ = "Labelled" + kind.__name__  # where pickle finds it
        globals()[Labelled.__name__] = Labelled
        return Labelled

    LOGISTIC, RANKER = labelled(darrm.LogisticRegression), labelled(darrm.AUCRanker)


@unittest.skipIf(sklearn is None, "scikit-learn is not installed")
class Checks(unittest.TestCase):
    """Each check has an estimator of its own, and a budget for as many fits as it likes."""

    def run_checks(self, kind, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            name, failed, ran = kind.__name__.replace("Labelled", ""), {}, 0
            for _, check in check_estimator(kind(**options), generate_only=True):
                ran += 1
                called = check.func.__name__
                try:
                    check(kind(**options, budget=Unlimited()))
                except unittest.SkipTest:
                    continue
                except Exception as e:
                    if called not in BY_CHANCE:
                        failed[called] = e
        self.assertGreater(ran, 25)
        unlisted = {check: repr(e)[:300] for check, e in failed.items() if check not in LISTED[name]}
        self.assertEqual((unlisted, set(LISTED[name]) - set(failed)), ({}, set()))

    def test_votes(self):
        self.run_checks(Voted, budget_eps=9, budget_delta=1e-6)

    def test_logistic(self):
        self.run_checks(LOGISTIC, epsilon=9, delta=1e-6, radius=10)

    def test_ranker(self):
        self.run_checks(RANKER, epsilon=9, delta=1e-6, radius=10)

    def test_linear(self):
        self.run_checks(darrm.LinearRegression, epsilon=9, delta=1e-6, radius=10, y_range=(-200, 200))

    def test_page_lists_them(self):
        page = (Path(__file__).parents[2] / "docs/python.md").read_text(encoding="utf-8")
        for check in BY_CHANCE:
            self.assertTrue(f"`{check}`" in page, check)
        for listed in LISTED.values():
            for check, reason in listed.items():
                self.assertTrue(f"| `{check}` |" in page and reason in page, check)


@unittest.skipIf(sklearn is None, "scikit-learn is not installed")
class Selection(unittest.TestCase):
    """Cross-validation and grids make clones; none of them has a budget of its own."""

    def setUp(self):
        rng = np.random.default_rng(1)
        self.X = rng.uniform(0, 10, (300, 2))
        self.y = (self.X[:, 0] > self.X[:, 1]).astype(int)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ledger = darrm.Ledger.create(f"{folder.name}/l", eps=7, delta=1e-3)
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)

    def model(self, **options):
        return darrm.LogisticRegression(epsilon=2, delta=1e-6, scale=(0, 10), **options)

    def test_one_fold_is_released(self):
        scores = cross_val_score(self.model(), self.X, self.y, cv=5)
        self.assertEqual(np.isnan(scores).tolist(), [False, True, True, True, True])
        with self.assertRaises(darrm.BudgetError):
            cross_val_score(self.model(), self.X, self.y, cv=5, error_score="raise")
        for jobs in (1, 2):  # where there are two, each fold is in a process or a thread of its own
            search = GridSearchCV(self.model(), {"epsilon": [1, 2]}, cv=2, refit=False, n_jobs=jobs)
            try:
                search.fit(self.X, self.y)
            except ValueError:  # from scikit-learn: all fits failed
                continue
            released = [np.isfinite(search.cv_results_[f"split{i}_test_score"]).sum() for i in range(2)]
            self.assertLessEqual(sum(released), 1)

    def test_ledger_pays_for_folds(self):
        scores = cross_val_score(self.model(ledger=self.ledger), self.X, self.y, cv=3)
        self.assertTrue((scores > 0.6).all(), scores)
        self.assertEqual(self.ledger.show()["spent"]["epsilon"], 6)
        with self.assertRaises(darrm.BudgetError):
            clone(self.model(ledger=self.ledger)).fit(self.X, self.y)

    def test_ledger_pays_for_folds_of_several_processes(self):
        scores = cross_val_score(self.model(ledger=self.ledger, request_id="fold"), self.X, self.y, cv=3, n_jobs=2, error_score="raise")
        self.assertTrue((scores > 0.6).all(), scores)
        self.assertEqual(self.ledger.show()["spent"]["epsilon"], 6)

    def test_votes_in_folds(self):
        votes = (self.X > 5).astype(int)
        one = darrm.PrivateVote(budget_eps=2, budget_delta=0, affected=1)
        with self.assertRaises(darrm.BudgetError):
            cross_val_predict(one, votes, self.y, cv=3)
        one = darrm.PrivateVote(budget_eps=2, budget_delta=0, affected=1, ledger=self.ledger)
        self.assertEqual(len(cross_val_predict(one, votes, self.y, cv=3)), len(votes))
        self.assertAlmostEqual(self.ledger.show()["spent"]["epsilon"], 6, delta=0.01)

    def test_pipeline(self):
        one = make_pipeline(FunctionTransformer(), self.model())
        self.assertGreater(one.fit(self.X, self.y).score(self.X, self.y), 0.6)
        with self.assertRaises(darrm.BudgetError):
            clone(one).fit(self.X[1:], self.y[1:])


if __name__ == "__main__":
    unittest.main()
