"""Learning from released labels: the law of a label, and a student that knows it.

``LabelLaw`` needs nothing but Python. ``Student`` imports NumPy when it is fitted.
"""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from ._estimators import _Estimator
from ._tables import bad

_Path = Union[str, "os.PathLike[str]"]


class LabelLaw:
    """What is public of released labels: the document of ``darrm label-law``.

    Args:
        path: the file that ``darrm label-law --out`` or ``darrm aggregate --label-law`` wrote.

    Attributes:
        classes: the classes' names, in order.
        transition: T, a row for each class: the probability of each label where that class has the most votes.
            An abstention, where it occurs, is the last column.
        posterior: a row for each label: the probability of each class behind it, by ``shares``.
        shares, labels: how frequent the classes are, and the labels by them.
        beta: of the layer ``softmax(beta * k * shares + offsets)``; None where the labels have no noise.
        offsets: one for each class; all 0 where the table treats the classes alike.
        k, answers, mechanism, agrees, abstains: of the mechanism.
        worth, worth_limit: how many labels without noise all ``answers`` labels are worth; what that tends to for
            many labels, None where it is not known.
        information, chi_square: of a label and the class, by ``shares``.
    """

    def __init__(self, path: _Path) -> None:
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise bad(f"{path}: not a label law: {error}") from None
        self._read(document, str(path))

    def _read(self, d: Any, name: str) -> None:
        if not isinstance(d, dict) or d.get("kind") != "label-law" or d.get("format_version") != 1:
            raise bad(f"{name}: not a label law of format 1, as darrm label-law writes it")
        try:
            self.mechanism: str = d["mechanism"]
            self.k, self.answers = int(d["k"]), int(d["answers"])
            self.classes: List[str] = [str(c) for c in d["class_names"]]
            self.shares = [float(x) for x in d["shares"]]
            self.labels = [float(x) for x in d["labels"]]
            self.transition = [[float(x) for x in row] for row in d["transition"]]
            self.posterior = [[float(x) for x in row] for row in d["posterior"]]
            self.beta: Optional[float] = None if d["beta"] is None else float(d["beta"])
            self.offsets = [float(x) for x in d.get("offsets", [0.0] * len(self.classes))]
            self.agrees, self.abstains = float(d["agrees"]), float(d["abstains"])
            self.worth, self.information, self.chi_square = (float(d[x]) for x in ("worth", "information", "chi_square"))
            limit = d.get("worth_limit")
            self.worth_limit: Optional[float] = None if limit is None else float(limit)
        except (KeyError, TypeError, ValueError) as error:
            raise bad(f"{name}: not a label law: {error!r}") from None
        n = len(self.classes)
        rows = [self.shares, self.labels, *self.transition, *self.posterior]
        if (
            n < 2 or d.get("classes") != n or len(set(self.classes)) != n or self.k < 1 or self.answers < 1
            or len(self.shares) != n or len(self.transition) != n or len(self.posterior) != len(self.labels)
            or any(len(row) != len(self.labels) for row in self.transition)
            or any(len(row) != n for row in self.posterior)
            or any(not x >= 0 for row in rows for x in row) or any(abs(sum(row) - 1) > 1e-6 for row in rows)
            or (self.beta is not None and not 0 <= self.beta < math.inf)
            or len(self.offsets) != n or not all(map(math.isfinite, self.offsets))
        ):
            raise bad(f"{name}: not a label law: its numbers are not those of {n} classes")

    def __repr__(self) -> str:
        return f"<LabelLaw of {self.mechanism}, k={self.k}, {len(self.classes)} classes>"

    def label_probabilities(self, shares: Any) -> Any:
        """The layer: the probability of each class as the label, where the votes have these shares.

        Args:
            shares: one row of shares of the votes, one for each class, or rows of them.

        Returns:
            A list as long, or a list of such lists. A label that is an abstention is left out: they are the
            probabilities of a label that is there.
        """
        shares = _plain(shares)
        rows = [list(row) for row in shares] if _nested(shares) else [list(shares)]
        out: List[List[float]] = []
        for row in rows:
            if len(row) != len(self.classes):
                raise bad(f"{len(row)} shares, but there are {len(self.classes)} classes")
            if self.beta is None:
                out.append([float(x) for x in row])
                continue
            scores = [self.beta * self.k * float(x) + o for x, o in zip(row, self.offsets)]
            weights = [math.exp(z - max(scores)) for z in scores]
            out.append([w / sum(weights) for w in weights])
        return out if _nested(shares) else out[0]

    def weights(self, proba: Any, labels: Sequence[Any]) -> List[List[float]]:
        """The probability of each class behind each label, for a learner that takes weights.

        ``proba`` must be the learner's own probabilities, made anew after each fit: this is one step of an
        EM algorithm. In a single pass from the classes' shares it is a trap: see docs/students.md.

        Args:
            proba: for each label, the probability of each class by the learner.
            labels: the labels. A missing one has the learner's own probabilities.
        """
        proba, found = _plain(proba), self.indices(labels)
        if len(proba) != len(found):
            raise bad(f"{len(found)} labels for {len(proba)} rows of probabilities")
        out = []
        for row, label in zip(proba, found):
            row = [float(p) for p in row]
            if len(row) != len(self.classes):
                raise bad(f"{len(row)} probabilities, but there are {len(self.classes)} classes")
            if label is not None:
                row = [p * self.transition[c][label] for c, p in enumerate(row)]
            total = sum(row)
            out.append([p / total for p in row] if total > 0 else [1 / len(row)] * len(row))
        return out

    def indices(self, labels: Any) -> List[Optional[int]]:
        """The number of each label's class, None for an abstention: None, NaN, an empty text, or -1."""
        at: Dict[str, int] = {name: i for i, name in enumerate(self.classes)}
        out: List[Optional[int]] = []
        for label in getattr(labels, "labels", labels):
            name = _name(label)
            if name in at:
                out.append(at[name])
            elif str(label) in at:  # 1.0 of a class that is called 1.0
                out.append(at[str(label)])
            elif name in (None, "", "-1"):
                out.append(None)
            else:
                raise bad(f"label {label!r} is none of the law's classes {self.classes}")
        return out


def _plain(rows: Any) -> Any:
    """A frame or series of pandas as an array, whatever its index."""
    return rows.to_numpy() if hasattr(rows, "to_numpy") else rows


def _nested(rows: Any) -> bool:
    return len(rows) > 0 and hasattr(rows[0], "__len__")


def _name(label: Any) -> Optional[str]:
    """A label as the document has it: 1, 1.0 and "1" are the class 1."""
    if label is None:
        return None
    if isinstance(label, str):
        return str(label)
    try:
        value = float(label)
    except (TypeError, ValueError):
        return None if str(label) == "<NA>" else str(label)  # of pandas
    if math.isnan(value):
        return None
    return str(int(value)) if value.is_integer() else str(value)


class Student(_Estimator):
    """A linear model that learns from released labels and knows their law.

    It gives shares of the votes, softmax(X·W + b), and a label is softmax(β·K·shares + offsets): the law as the last
    layer. What is minimised, from 0, is

        -Σ_i ln softmax(β·K·s(x_i) + offsets)_{y_i} + (l2/2)·|W|²

    Nothing of it costs privacy, for features that are public: the labels are released, and their law is public.

    Args:
        law: a LabelLaw, or the path of one.
        l2: the weight of |W|²; the constant has none.
        max_iter: the most steps of L-BFGS.
        tol: where the largest derivative is below it, the search ends.

    Attributes:
        classes_: the classes, as numbers where all of them are.
        coef_, intercept_: W and b, of two classes one row for the second.
        n_missing_: how many labels were abstentions, which are skipped.
        loss_: what was reached.
        n_iter_: in so many steps.
    """

    _estimator_type = "classifier"
    _tags = {"requires_y": True, "multi_class": True, "non_deterministic": False}

    def __init__(self, law: Any = None, l2: float = 10, max_iter: int = 1000, tol: float = 1e-6) -> None:
        self.law = law
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol

    def _more_tags(self) -> Dict[str, Any]:
        return {"requires_y": True, "poor_score": True}

    def _features(self, X: Any, fitting: bool) -> Any:
        import numpy as np

        X = np.asarray(X, dtype=float)
        if X.ndim != 2:
            raise bad(f"X must have rows and columns, but its shape is {X.shape}")
        if not np.isfinite(X).all():
            raise bad("X has NaN or infinity")
        if not fitting and X.shape[1] != self.n_features_in_:
            raise bad(f"X has {X.shape[1]} features, but Student is expecting {self.n_features_in_} features as input")
        return X

    def fit(self, X: Any, labels: Any) -> "Student":
        """Learn from the labels of the rows of X. Labels that are missing are skipped and counted."""
        import numpy as np

        self._need("law")
        law = self.law if isinstance(self.law, LabelLaw) else LabelLaw(self.law)
        if not 0 <= self.l2 < math.inf:
            raise bad(f"l2 = {self.l2}, but it must be at least 0 and finite")
        X = self._features(X, True)
        found = law.indices(labels)
        if len(found) != len(X):
            raise bad(f"{len(found)} labels for {len(X)} rows")
        there = [i for i, y in enumerate(found) if y is not None]
        self.n_missing_ = len(found) - len(there)
        if not there:
            raise bad("there is no label to learn from: all are missing")
        y = np.array([found[i] for i in there])
        X = X[there]
        self.n_features_in_ = X.shape[1]
        n = len(law.classes)
        columns = 1 if n == 2 else n
        scale = None if law.beta is None else law.beta * law.k
        offsets = np.array(law.offsets)

        def loss(w: Any) -> Any:
            w = w.reshape(X.shape[1] + 1, columns)
            s = _softmax(_scores(X, w[:-1], w[-1]))
            rows = np.arange(len(y))
            if scale is None:
                value, g = -_log_softmax(_scores(X, w[:-1], w[-1]))[rows, y].sum(), s.copy()
                g[rows, y] -= 1
            else:
                q = _softmax(scale * s + offsets)
                value = -_log_softmax(scale * s + offsets)[rows, y].sum()
                q[rows, y] -= 1
                g = scale * q
                g = s * (g - (s * g).sum(1, keepdims=True))
            if columns == 1:
                g = g[:, 1:]
            grad = np.vstack([X.T @ g + self.l2 * w[:-1], g.sum(0)])
            return value + self.l2 / 2 * (w[:-1] ** 2).sum(), grad.ravel()

        w, self.loss_, self.n_iter_ = _lbfgs(loss, np.zeros((X.shape[1] + 1) * columns), self.max_iter, self.tol)
        w = w.reshape(X.shape[1] + 1, columns)
        self.coef_, self.intercept_ = w[:-1].T, w[-1]
        numbers = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", c) for c in law.classes)
        self.classes_ = np.array([int(c) for c in law.classes] if numbers else law.classes)
        return self

    def predict_proba(self, X: Any) -> Any:
        """The shares of the votes that the model expects, of each class. They are no probabilities that a label is
        right."""
        if not hasattr(self, "coef_"):
            raise bad("this Student is not fitted: call fit first")
        return _softmax(_scores(self._features(X, False), self.coef_.T, self.intercept_))

    def predict(self, X: Any) -> Any:
        """The class with the largest share, for each row."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(1)]

    def score(self, X: Any, y: Any) -> float:
        """How often the prediction is the true class, of public truth."""
        import numpy as np

        found, truth = self.predict(X), list(getattr(y, "labels", y))
        if len(found) != len(truth) or not truth:
            raise bad(f"{len(truth)} true classes for {len(found)} rows")
        return float(np.mean([_name(a) == _name(b) or str(a) == str(b) for a, b in zip(found, truth)]))


def _scores(X: Any, W: Any, b: Any) -> Any:
    import numpy as np

    z = X @ W + b
    return np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z


def _softmax(z: Any) -> Any:
    import numpy as np

    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _log_softmax(z: Any) -> Any:
    """The logarithm, finite where a probability is too small for a number."""
    import numpy as np

    z = z - z.max(1, keepdims=True)
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def _lbfgs(f: Any, x: Any, steps: int, tol: float, memory: int = 10) -> Any:
    """The least f that is found from x: L-BFGS, each step by bisection for the weak Wolfe conditions."""
    import numpy as np

    value, g = f(x)
    pairs: List[Any] = []
    for step in range(steps):
        if np.abs(g).max() <= tol:
            return x, float(value), step
        d, alphas = -g, []
        for s, y, rho in reversed(pairs):
            alphas.append(rho * (s @ d))
            d = d - alphas[-1] * y
        if pairs:
            s, y, _ = pairs[-1]
            d = d * (s @ y) / (y @ y)
        for (s, y, rho), alpha in zip(pairs, reversed(alphas)):
            d = d + (alpha - rho * (y @ d)) * s
        slope = g @ d
        if not slope < 0:
            d, slope, pairs = -g, -(g @ g), []
        low, high, t = 0.0, np.inf, 1.0 if pairs else min(1.0, 1 / np.abs(g).sum())
        for _ in range(60):
            there, h = f(x + t * d)
            if not there <= value + 1e-4 * t * slope:
                high = t
            elif h @ d < 0.9 * slope:
                low = t
            else:
                break
            t = (low + high) / 2 if high < np.inf else 2 * t
        else:
            return x, float(value), step  # no better point within rounding
        s, y = t * d, h - g
        if s @ y > 1e-12 * (y @ y):
            pairs = (pairs + [(s, y, 1 / (s @ y))])[-memory:]
        x, value, g = x + s, there, h
    return x, float(value), steps
