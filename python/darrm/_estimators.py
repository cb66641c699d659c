"""Estimators in scikit-learn's manner, which need no scikit-learn."""

from __future__ import annotations

import inspect
import json
import math
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from . import _onnx
from ._budget import Budget, NotPrivate
from ._calls import aggregate
from ._numbers import to_npy
from ._predict import Elsewhere, labels, predict
from ._program import DarrmError, InputError, Progress, UsageError, flags, run
from ._results import Labels
from ._rows import to_csv
from ._tables import Rows, bad, plain, read, vector
from ._words import reworded

_Path = Union[str, "os.PathLike[str]"]
_Range = Tuple[float, float]
_E = TypeVar("_E", bound="_Estimator")


class _Estimator:
    """What scikit-learn asks of every estimator."""

    _tags: Dict[str, Any] = {}

    @classmethod
    def _names(cls) -> List[str]:
        return [name for name in inspect.signature(cls).parameters]

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters. The budget is one of them, and clones share it."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: _E, **params: Any) -> _E:
        """Set parameters."""
        for name, value in params.items():
            if name not in self._names():
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {self._names()}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = {name: repr(p.default) for name, p in inspect.signature(type(self)).parameters.items()}
        shown = [f"{n}={v!r}" for n, v in self.get_params().items() if repr(v) != usual[n] and not isinstance(v, Budget)]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _more_tags(self) -> Dict[str, Any]:
        return {"non_deterministic": True, **self._tags}

    def __sklearn_tags__(self) -> Any:
        """The same for scikit-learn 1.6 and later."""
        from sklearn import utils

        kind = getattr(self, "_estimator_type", None)
        return utils.Tags(
            estimator_type=kind,
            target_tags=utils.TargetTags(required=self._tags.get("requires_y", False)),
            classifier_tags=utils.ClassifierTags(poor_score=True, multi_class=self._tags.get("multi_class", False)) if kind == "classifier" else None,
            regressor_tags=utils.RegressorTags(poor_score=True) if kind == "regressor" else None,
            non_deterministic=self._tags.get("non_deterministic", True),
            requires_fit=self._tags.get("requires_fit", True),
        )

    def _need(self, *names: str) -> None:
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            how = ""
            if "budget_delta" in missing or "delta" in missing:
                how = "; a δ far below one over the number of records is yours to choose, such as 1e-6 for thousands of records"
                how += "; 0 is the strictest" if "budget_delta" in missing else ""
            raise UsageError(f"{' and '.join(missing)} must be given{how}", "usage", 2)

    def _read(self, table: Any, what: str, fitting: bool, numbers: bool = False) -> Rows:
        """Read a table, whose columns must be those of fit."""
        rows = read(table, what, numbers)
        if not rows.labelled:
            rows = Rows(None, rows.cells, rows.index)
        width = len(rows.names) if rows.names is not None else len(rows.cells[0]) if len(rows.cells) else 0
        shape = getattr(table, "shape", (len(rows.cells), width))
        if not len(rows.cells):
            raise bad(f"Found array with 0 sample(s) (shape={tuple(shape)}) while a minimum of 1 is required.")
        if width == 0:
            raise bad(f"Found array with 0 feature(s) (shape=({len(rows.cells)}, 0)) while a minimum of 1 is required.")
        if fitting:
            self.n_features_in_ = width
            if rows.names is not None:
                self.feature_names_in_ = array(rows.names)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif rows.names is None and getattr(self, "n_features_in_", width) != width:
            raise bad(f"X has {width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input")
        return rows


def array(values: Any) -> Any:
    """A NumPy array where NumPy is imported, else the list."""
    if hasattr(values, "dtype"):
        return values
    return sys.modules["numpy"].array(values) if "numpy" in sys.modules else values


class PrivateVote(_Estimator):
    """Private labels for a matrix of votes, all of them within one budget.

    ``predict`` is ``darrm aggregate --budget-eps … --budget-delta …``: it plans for the number of queries, by a prior
    and never by the votes, and releases one label for each row. There is nothing to learn: ``fit`` notes how many
    teachers there are, and need not be called.

    The same votes have the same labels again. Other votes, asked of this object or of a clone (cross-validation makes
    clones), are refused, or charged to ``ledger=``. There is no ``random_state``: labels of known randomness hide nothing.

    Args:
        budget_eps: ε that all labels together may cost, or ``"rest"`` for what the ledger has left.
        budget_delta: δ that all labels together may cost, likewise.
        queries: how many labels the budget is for, in all that is released under one charge of ``ledger``; those of the
            votes where it is not given.
        new_charge: pay for ``queries`` labels again, though the ledger has a charge of the same statement.
        classes: what a vote can be, in order; 0 and 1 where it is not given.
        data: ``"disjoint"`` where no person is in two teachers' data. Unstated, one person may reach all teachers.
        affected: how many teachers one person's record can reach, instead of ``data``.
        eps, teacher_delta, teachers: what each teacher promises itself, and whether teachers are ``"fresh"`` or
            ``"frozen"``; nothing where they are not given.
        ensemble: the name of frozen teachers in the ledger.
        missing: what becomes of a missing vote, ``"error"`` or another of ``darrm aggregate --missing``.
        neighbours: ``"replace"`` (default) or ``"add-remove"`` one record.
        accept_weak: release although the total spent protects nobody, ε above 10 for instance.
        ledger: charged for every release, a Ledger or its path. Without one nothing remembers what this process released.
        request_id: the name of the release in the ledger.
        budget: a Budget to share with other estimators.

    Attributes:
        released: the Labels that were released last by this budget, or ``None``.
        cost: what all of them cost, ``{"epsilon": …, "delta": …}``.

    >>> import darrm
    >>> votes = [["cat"] * 9, ["dog"] * 8 + ["cat"]]
    >>> vote = darrm.PrivateVote(budget_eps=10, budget_delta=1e-6, classes=["cat", "dog"], data="disjoint")
    >>> labels = vote.predict(votes)
    >>> list(labels) == list(vote.predict(votes)), len(labels)
    (True, 2)
    >>> vote.predict(votes[:1])
    Traceback (most recent call last):
        ...
    darrm.BudgetError: ...
    """

    _tags = {"requires_fit": False, "stateless": True}

    def __init__(
        self,
        *,
        budget_eps: Union[float, str, None] = None,
        budget_delta: Union[float, str, None] = None,
        queries: Optional[int] = None,
        new_charge: bool = False,
        classes: Optional[Sequence[Any]] = None,
        data: Optional[str] = None,
        affected: Optional[int] = None,
        eps: Optional[float] = None,
        teacher_delta: Optional[float] = None,
        teachers: Optional[str] = None,
        ensemble: Optional[str] = None,
        missing: Optional[str] = None,
        neighbours: Optional[str] = None,
        accept_weak: bool = False,
        ledger: Optional[_Path] = None,
        request_id: Optional[str] = None,
        budget: Optional[Budget] = None,
    ):
        self.budget_eps, self.budget_delta, self.queries, self.new_charge = budget_eps, budget_delta, queries, new_charge
        self.classes, self.data, self.affected = classes, data, affected
        self.eps, self.teacher_delta, self.teachers = eps, teacher_delta, teachers
        self.ensemble, self.missing, self.neighbours, self.accept_weak = ensemble, missing, neighbours, accept_weak
        self.ledger, self.request_id = ledger, request_id
        self.budget = Budget() if budget is None else budget

    def fit(self, votes: Any, y: Any = None) -> "PrivateVote":
        """Note how many teachers there are. No vote is looked at."""
        self._read(votes, "votes", True)
        return self

    def predict(self, votes: Any) -> Any:
        """Release one label for each row of votes.

        Every column is a teacher. Returns a pandas series with the index of a pandas frame; for other votes a NumPy
        array where NumPy is imported, else a list.
        """
        self._need("budget_eps", "budget_delta")
        rows = self._read(votes, "votes", False)
        options = self.get_params()
        ledger, request_id, budget = (options.pop(name) for name in ("ledger", "request_id", "budget"))
        request = [b"votes\n", json.dumps(flags(options)).encode(), to_csv(None, rows.cells)]
        labels = budget.release(
            request, ledger, request_id, lambda names: aggregate(rows.cells, K=len(rows.cells[0]), **options, **names)
        )
        if rows.index is not None:
            return sys.modules["pandas"].Series(labels.labels, index=rows.index, name="label")
        return array(labels.labels)

    def fit_predict(self, votes: Any, y: Any = None) -> Any:
        """Fit and predict."""
        return self.fit(votes).predict(votes)

    @property
    def released(self) -> Optional[Labels]:
        """The labels that were released last by this budget."""
        last: Optional[Labels] = self.budget.last
        return last

    @property
    def cost(self) -> Optional[Dict[str, float]]:
        """What they cost together."""
        if self.released is None:
            return None
        cost: Dict[str, float] = self.released.data[f"all_labels_{'frozen' if self.teachers == 'frozen' else 'fresh'}_teachers"]
        return cost


class _Linear(_Estimator):
    """A linear model that ``darrm train`` trains."""

    _tags = {"requires_y": True, "binary_only": True, "poor_score": True}
    _task = ""

    def __init__(
        self,
        epsilon: Optional[float] = None,
        *,
        delta: Optional[float] = None,
        scale: Union[Mapping[Any, _Range], _Range, None] = None,
        categories: Optional[Mapping[Any, Sequence[Any]]] = None,
        fill: Optional[Mapping[Any, Any]] = None,
        columns: Optional[Sequence[Any]] = None,
        radius: Optional[float] = None,
        center: Optional[str] = None,
        fit_intercept: bool = True,
        rows_per_person: Optional[int] = None,
        hold_out: Optional[float] = None,
        score_epsilon: Optional[float] = None,
        weight_bound: Optional[float] = None,
        neighbours: Optional[str] = None,
        n: Optional[int] = None,
        accept_weak: bool = False,
        ledger: Optional[_Path] = None,
        request_id: Optional[str] = None,
        budget: Optional[Budget] = None,
    ):
        self.epsilon, self.delta = epsilon, delta
        self.scale, self.categories, self.fill, self.columns = scale, categories, fill, columns
        self.radius, self.center = radius, center
        self.fit_intercept, self.rows_per_person, self.neighbours, self.n = fit_intercept, rows_per_person, neighbours, n
        self.hold_out, self.score_epsilon, self.weight_bound = hold_out, score_epsilon, weight_bound
        self.accept_weak = accept_weak
        self.ledger, self.request_id = ledger, request_id
        self.budget = Budget() if budget is None else budget

    def fit(self: "_L", X: Any, y: Any = None, sample_weight: Any = None, *, progress: Optional[Progress] = None) -> "_L":
        """Train a model and pay for it. The same records have the same model again, free.

        Args:
            X: rows, an array or a frame. Columns without names are ``x0``, ``x1``, …
            y: one response for each row.
            sample_weight: one weight for each row, from 0 on, private as the row is and cut to ``weight_bound``.
            progress: called with a dict for each step that the program reports: what it does, how much is done, of how much.
        """
        self._need("epsilon", "delta")
        if sample_weight is not None and self.weight_bound is None:
            raise UsageError("weight_bound must be given beside sample_weight: larger weights are cut to it, and it is public", "usage", 2)
        if y is None:
            raise bad(f"{type(self).__name__} requires y to be passed, but the target y is None: Y cannot be None")
        table = self._read(X, "X", True, numbers=True)
        names = _columns(table)
        response = _response(y, names)
        rules = self._rules(table, names, response)
        options: Dict[str, Any] = {
            "task": self._task, "eps": self.epsilon, "delta": self.delta, "radius": self.radius, "center": self.center, "neighbours": self.neighbours,
            "n": self.n, "accept_weak": self.accept_weak, "rows_per_person": self.rows_per_person, "intercept": "true" if self.fit_intercept else "false",
            "hold_out": self.hold_out, "score_eps": self.score_epsilon, "class_weights": self._class_weights(),
        }

        def train(paid: Dict[str, Any]) -> Dict[str, Any]:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "prepare.toml"
                path.write_text(rules, encoding="utf-8")
                said = _run(given, form, "train", "-", "--json", *flags({"data_format": form, "prepare": path, **options, **paid}), progress=progress)
            model: Dict[str, Any] = json.loads(said)
            if "warning" in model:
                warnings.warn(model["warning"], stacklevel=4)
            return model

        try:
            values = self._responses(y, len(table.cells))
        except InputError:
            form, given = "csv", [to_csv([*names, response], [])]
            try:  # what the program refuses without any record comes first
                train({})
            except UsageError:
                raise
            except DarrmError:
                pass
            raise
        if sample_weight is not None:
            names, table, options["weights"] = _weighted(names, table, response, sample_weight)
            options["weight_bound"] = self.weight_bound
        form, given = _records(names, table, response, values)
        request = [b"train\n", json.dumps([flags(options), rules]).encode(), *given]
        self.model_ = self.budget.release(request, self.ledger, self.request_id, train)
        return self

    def save(self, path: _Path) -> None:
        """Write the model for ``darrm predict`` and ``darrm evaluate``."""
        Path(path).write_text(json.dumps(self._fitted(), indent=2) + "\n", encoding="utf-8")

    def to_onnx(self, path: _Path) -> None:
        """Write an ONNX graph from the columns as they are to the predictions. Needs the package onnx.

        Its input X has a row for each record and the model's columns in their order, as doubles. The outputs of
        LogisticRegression are label, probabilities and score, of AUCRanker score, and of LinearRegression prediction.

        Raises:
            UsageError: a column has categories or a value for missing cells.
        """
        _onnx.write(self._fitted(), list(self.classes) if isinstance(self, LogisticRegression) else None, path)

    @property
    def cost(self) -> Dict[str, float]:
        """What the model cost, ``{"epsilon": …, "delta": …}``."""
        cost: Dict[str, float] = self._fitted()["cost"]
        return cost

    @property
    def coef_(self) -> Any:
        """The weights, in mapped units: of features as the rules of the columns make them, numbers cut to their range and
        mapped to [-1, 1], words 0 or 1, and rows shortened to the radius. A row for each score where scikit-learn has rows.
        """
        rows, _ = self._weights()
        return array(rows if isinstance(self, _Classes) else rows[0])

    @property
    def intercept_(self) -> Any:
        """The intercepts, of the same units; 0 without ``fit_intercept``."""
        _, last = self._weights()
        return array(last) if isinstance(self, _Classes) else last[0]

    def _weights(self) -> Tuple[List[List[float]], List[float]]:
        """The weights of each score, without and with nothing but the intercepts."""
        model = self._fitted()
        each = len(model["model"]) // len(model.get("classes") or [""])
        rows = [model["model"][i : i + each] for i in range(0, len(model["model"]), each)]
        if model["intercept"]:
            return [row[:-1] for row in rows], [row[-1] for row in rows]
        return rows, [0.0] * len(rows)

    @property
    def held_out_score(self) -> Optional[Dict[str, Any]]:
        """The score on the rows of ``hold_out`` with the noise of ``score_epsilon``; private, and paid for with the model.

        ``kind`` (accuracy, auc or loss), ``value``, the ``deviation`` of its noise, its ``epsilon``, and how many
        ``records`` were scored, where that is public. None without ``score_epsilon``.
        """
        score: Optional[Dict[str, Any]] = self._fitted().get("score")
        return score

    def _responses(self, y: Any, rows: int) -> Any:
        """The responses as the program reads them."""
        values = vector(y, "y")
        if len(values) != rows:
            raise bad(f"y has {len(values)} values, but X has {rows} rows")
        return values

    def _range(self) -> Optional[_Range]:
        """The range of the response, where it needs one."""
        return None

    def _words(self) -> Optional[List[str]]:
        """The words of the response, of several classes: their numbers."""
        return None

    def _class_weights(self) -> Optional[str]:
        """The weights of the classes by their numbers, as the program reads them."""
        return None

    def _rules(self, table: Rows, names: List[str], response: str) -> str:
        """The rules of the columns, as a file that ``darrm train --prepare`` reads."""
        if self.columns is None and table.names is not None:
            _refuse_identifiers(names)
        features = names if self.columns is None else [_name(c) for c in self.columns]
        for kind, given, example in (("categories", self.categories, "{'sex': ['f', 'm']}"), ("fill", self.fill, "{'age': 40}")):
            if given is not None and not isinstance(given, Mapping):
                raise UsageError(f"{kind} = {given!r}, but it must be a dictionary by column, such as {example}", "usage", 2)
        if isinstance(self.columns, str):
            raise UsageError(f"columns = {self.columns!r}, but it must be a list of names, such as [{self.columns!r}]", "usage", 2)
        scale = self.scale
        for one in scale.values() if isinstance(scale, Mapping) else [] if scale is None else [scale]:
            if isinstance(one, str) or not hasattr(one, "__len__") or len(one) != 2 or not all(map(_is_number, one)):
                raise UsageError(f"scale = {one!r}, but it must be two numbers, (LOW, HIGH), or a dictionary of them by column", "usage", 2)
        if scale is not None and not isinstance(scale, Mapping):
            scale = {name: scale for name in features if name not in {_name(c) for c in self.categories or {}}}
        rules: Dict[str, Dict[str, Any]] = {name: {} for name in features}
        for kind, given in (("scale", scale), ("categories", self.categories), ("fill", self.fill)):
            for column, value in (given or {}).items():
                if _name(column) not in rules:
                    raise UsageError(f"{kind}: column = {column!r}, but it must be one of the features {_some(features)}", "usage", 2)
                rules[_name(column)][kind] = value
        y_range = self._range()
        if y_range is not None:
            rules[response] = {"scale": y_range}
        words = self._words()
        if words is not None:
            rules[response] = {"categories": words}
        lines = [f"response = {_toml(response)}"]
        for name, rule in rules.items():
            lines += ["[[column]]", f"name = {_toml(name)}", *(f"{kind} = {_toml(value)}" for kind, value in rule.items())]
        return "\n".join(lines) + "\n"

    def _fitted(self) -> Dict[str, Any]:
        if not hasattr(self, "model_"):
            # scikit-learn looks for its own kind; nobody who has not imported it does.
            known = sys.modules.get("sklearn.exceptions")
            kind = UsageError if known is None else known.NotFittedError
            raise kind(f"this {type(self).__name__} is not fitted: call fit before")
        return self.model_

    def _ask(self, command: str, X: Any, y: Any = None, of_classes: bool = False) -> Dict[str, Any]:
        """What the program says of these records by the model; of classes alone, where nothing else is needed."""
        model = self._fitted()
        table = self._read(X, "X", False, numbers=True)
        names = _columns(table)
        if table.names is None and hasattr(self, "feature_names_in_"):  # as scikit-learn does
            warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names", stacklevel=3)
            names = list(self.feature_names_in_)
        if y is None:
            try:
                found = labels(model, names, table.cells) if of_classes else None
                return predict(model, names, table.cells) if found is None else {"predictions": found}
            except Elsewhere:
                pass
            form, given = _records(names, table)
        else:
            form, given = _records(names, table, model["response"], self._responses(y, len(table.cells)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            self.save(path)
            said: Dict[str, Any] = json.loads(_run(given, form, command, "--json", f"--data-format={form}", "--", str(path), "-"))
            return said

    def _evaluate(self, X: Any, y: Any, figure: str) -> NotPrivate:
        if y is None:
            raise bad(f"{type(self).__name__} requires y to be passed, but the target y is None: Y cannot be None")
        return NotPrivate(self._ask("evaluate", X, y)[figure])


_L = TypeVar("_L", bound=_Linear)


class _Classes(_Linear):
    """A model of classes, which are stated and not looked up in the records."""

    def __init__(
        self,
        epsilon: Optional[float] = None,
        *,
        delta: Optional[float] = None,
        classes: Sequence[Any] = (0, 1),
        scale: Union[Mapping[Any, _Range], _Range, None] = None,
        categories: Optional[Mapping[Any, Sequence[Any]]] = None,
        fill: Optional[Mapping[Any, Any]] = None,
        columns: Optional[Sequence[Any]] = None,
        radius: Optional[float] = None,
        center: Optional[str] = None,
        fit_intercept: bool = True,
        rows_per_person: Optional[int] = None,
        hold_out: Optional[float] = None,
        score_epsilon: Optional[float] = None,
        weight_bound: Optional[float] = None,
        class_weight: Optional[Mapping[Any, float]] = None,
        neighbours: Optional[str] = None,
        n: Optional[int] = None,
        accept_weak: bool = False,
        ledger: Optional[_Path] = None,
        request_id: Optional[str] = None,
        budget: Optional[Budget] = None,
    ):
        super().__init__(
            epsilon=epsilon, delta=delta, scale=scale, categories=categories, fill=fill, columns=columns, radius=radius, center=center,
            fit_intercept=fit_intercept, rows_per_person=rows_per_person, neighbours=neighbours, n=n,
            hold_out=hold_out, score_epsilon=score_epsilon, weight_bound=weight_bound,
            accept_weak=accept_weak, ledger=ledger, request_id=request_id, budget=budget,
        )
        self.classes, self.class_weight = classes, class_weight

    @property
    def classes_(self) -> Any:
        """The classes, as stated."""
        self._fitted()
        return array(list(self.classes))

    def decision_function(self, X: Any) -> Any:
        """Scores: the higher, the likelier is the second class; of several classes a score for each."""
        return array(self._scores(X))

    def _scores(self, X: Any) -> Any:
        said = self._ask("predict", X)
        return next(said[name] for name in ("class_scores", "scores", "predictions") if name in said)

    def _words(self) -> Optional[List[str]]:
        n = len(list(self._stated()))
        return [str(k) for k in range(n)] if n > 2 else None

    def _class_weights(self) -> Optional[str]:
        given = self.class_weight
        if given is None:
            return None
        if not isinstance(given, Mapping):
            why = ": balanced weights would depend on the records, and no charge covers that" if given == "balanced" else ""
            raise UsageError(f"class_weight = {given!r}, but it must be a dictionary of public weights, such as {{1: 5}}{why}", "usage", 2)
        known = list(self._stated())
        for word, weight in given.items():
            if word not in known:
                raise UsageError(f"class_weight: class {word!r}, but it must be one of {known}", "usage", 2)
            if not (_is_number(weight) and 0 <= weight < math.inf):
                raise UsageError(f"class_weight: class {word!r} has {weight!r}, but it must be a number from 0 on", "usage", 2)
        return ",".join(f"{known.index(word)}={float(weight)!r}" for word, weight in given.items()) or None

    def _stated(self) -> Sequence[Any]:
        """The classes, which must be stated."""
        if isinstance(self.classes, (str, bytes)) or not hasattr(self.classes, "__iter__") or len(list(self.classes)) < 2:
            raise UsageError(
                f"classes = {self.classes!r}, but they must be the values that y can have, two or more, such as (0, 1): they are "
                "stated, and never taken from the records", "usage", 2,
            )
        return self.classes

    def _responses(self, y: Any, rows: int) -> Any:
        out: List[Any] = []
        self._stated()
        codes = _codes(y, self.classes)
        if codes is not None and len(codes) == rows:
            return codes
        for i, value in enumerate(super()._responses(y, rows)):
            if value == "" and value not in self.classes:
                raise bad(f"row {i} has no y, but every row must have one")
            if value not in self.classes:
                raise bad(
                    f"Unknown label type: row {i} has y = {value!r}, which is none of the classes {list(self.classes)}; state what y can "
                    "be in classes, which is never taken from the records"
                )
            out.append(list(self.classes).index(value))
        return out


class LogisticRegression(_Classes):
    """A private classifier: ``darrm train --task logistic``.

    Ranges and categories are public knowledge, stated and never taken from the records (docs/training.md). The method
    follows from them and from how many records there are. A second ``fit`` on other records, by this object or by a
    clone, is refused, or charged to ``ledger=``. There is no ``random_state``.

    Args:
        epsilon, delta: what the model may cost.
        classes: the values of the response. Three or more have one model, a softmax, which
            ``epsilon`` and ``delta`` pay for as a whole.
        scale: the range of each column, ``{"age": (0, 120)}``; or one range for all columns without categories.
        categories: the words of a column, ``{"sex": ["Male", "Female"]}``; any other word has none of them.
        fill: what stands in for a missing cell, ``{"age": 40}``, or ``"missing"`` for a feature of its own.
        columns: the features; all columns where it is not given.
        radius: a bound on the length of a record, which longer ones are cut to. Needed where a column has no range.
        center: ``"zero"`` keeps 0 at 0 in every range that has it, so that a row of zeros is a short record: for columns that
            are mostly 0, such as counts of words.
        fit_intercept: whether there is a constant feature.
        rows_per_person: the most rows that a person has; the budget is then of a person.
        hold_out: the share of the rows that the model does not learn from.
        score_epsilon: the ε of the noise on ``held_out_score``, ``epsilon`` at most, whose cost covers it.
        weight_bound: the public bound to which the weights of ``fit(sample_weight=)`` are cut. Noise is for it, and the cost is
            that of no weights (docs/training.md).
        class_weight: public weights of classes, ``{"yes": 5}``, times those of the rows; other classes have 1. ``"balanced"``
            is refused: it would read the records.
        neighbours: ``"replace"`` (default) or ``"add-remove"`` one record, with a public number of records near ``n``.
        accept_weak: train although the total spent protects nobody, ε above 10 for instance.
        ledger: charged for every fit, a Ledger or its path. Without one nothing adds the cost to that of earlier models.
        request_id: the name of the model in the ledger.
        budget: a Budget to share with other estimators.

    Attributes:
        cost: what the model cost, ``{"epsilon": …, "delta": …}``.
        model_: the model as ``darrm train`` writes it (docs/formats.md).

    >>> import darrm
    >>> ages, grey = [[20], [30], [60], [70]] * 100, ["no", "no", "yes", "yes"] * 100
    >>> model = darrm.LogisticRegression(epsilon=10, delta=1e-6, scale=(0, 100), classes=["no", "yes"])
    >>> list(model.fit(ages, grey).predict([[10], [90]]))
    ['no', 'yes']
    >>> model.cost
    {'epsilon': 10, 'delta': 1e-06}
    >>> model.score(ages, grey) > 0.9, model.score(ages, grey).private
    (True, False)
    >>> tested = darrm.LogisticRegression(epsilon=10, delta=1e-6, scale=(0, 100), hold_out=0.3, score_epsilon=5)
    >>> tested.fit(ages, [1 if word == "yes" else 0 for word in grey]).held_out_score["private"]
    True
    >>> three = darrm.LogisticRegression(epsilon=10, delta=1e-6, scale=(0, 100), classes=["young", "grey", "old"])
    >>> three.fit(ages, ["young", "young", "grey", "old"] * 100).predict([[10], [90]])[1]
    'old'
    >>> model.fit(ages[:100], grey[:100])
    Traceback (most recent call last):
        ...
    darrm.BudgetError: ...
    """

    _estimator_type, _task = "classifier", "logistic"

    def predict(self, X: Any) -> Any:
        """The class of each row. As private as the model."""
        said = self._ask("predict", X, of_classes=True)["predictions"]
        if hasattr(said, "dtype"):
            return array(list(self.classes))[said]
        return array([self.classes[int(p)] for p in said])

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the classes, by the model."""
        said = self._ask("predict", X)
        if "class_probabilities" in said:
            return array(said["class_probabilities"])
        if "probabilities" not in said:
            raise UsageError(f"a model of the link {self._fitted()['link']!r} has no probabilities: take decision_function", "usage", 2)
        p = said["probabilities"]
        if hasattr(p, "dtype"):
            return sys.modules["numpy"].column_stack([1 - p, p])
        return array([[1 - q, q] for q in p])

    def score(self, X: Any, y: Any = None) -> NotPrivate:
        """The share of right classes. NOT private: a choice by it is paid for by nobody."""
        return self._evaluate(X, y, "accuracy")


class AUCRanker(_Classes):
    """A private score that puts records of two classes in order: ``darrm train --task auc``.

    Parameters are those of LogisticRegression. ``predict`` and ``decision_function`` give scores, of which the order counts.

    >>> import darrm
    >>> ages, grey = [[20], [30], [60], [70]] * 100, [0, 0, 1, 1] * 100
    >>> ranker = darrm.AUCRanker(epsilon=10, delta=1e-6, scale=(0, 100)).fit(ages, grey)
    >>> low, high = ranker.predict([[10], [90]])
    >>> bool(low < high), ranker.score(ages, grey) > 0.9
    (True, True)
    """

    _task = "auc"

    def predict(self, X: Any) -> Any:
        """The scores."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any = None) -> NotPrivate:
        """The area under the ROC curve. NOT private: a choice by it is paid for by nobody."""
        return self._evaluate(X, y, "auc")


class LinearRegression(_Linear):
    """A private linear regression: ``darrm train --task linear``.

    Parameters are those of LogisticRegression, with ``y_range`` in the place of ``classes``: the public range of the
    response, which is cut to it.

    >>> import darrm
    >>> rooms, rent = [[1], [2], [3], [4]] * 100, [500, 900, 1300, 1700] * 100
    >>> model = darrm.LinearRegression(epsilon=10, delta=1e-6, scale=(0, 5), y_range=(0, 2000)).fit(rooms, rent)
    >>> small, large = model.predict([[1], [4]])
    >>> bool(small < large), model.score(rooms, rent) > 0.5
    (True, True)
    """

    _estimator_type, _task = "regressor", "linear"

    def __init__(
        self,
        epsilon: Optional[float] = None,
        *,
        delta: Optional[float] = None,
        y_range: Optional[_Range] = None,
        scale: Union[Mapping[Any, _Range], _Range, None] = None,
        categories: Optional[Mapping[Any, Sequence[Any]]] = None,
        fill: Optional[Mapping[Any, Any]] = None,
        columns: Optional[Sequence[Any]] = None,
        radius: Optional[float] = None,
        center: Optional[str] = None,
        fit_intercept: bool = True,
        rows_per_person: Optional[int] = None,
        hold_out: Optional[float] = None,
        score_epsilon: Optional[float] = None,
        weight_bound: Optional[float] = None,
        neighbours: Optional[str] = None,
        n: Optional[int] = None,
        accept_weak: bool = False,
        ledger: Optional[_Path] = None,
        request_id: Optional[str] = None,
        budget: Optional[Budget] = None,
    ):
        super().__init__(
            epsilon=epsilon, delta=delta, scale=scale, categories=categories, fill=fill, columns=columns, radius=radius, center=center,
            fit_intercept=fit_intercept, rows_per_person=rows_per_person, neighbours=neighbours, n=n,
            hold_out=hold_out, score_epsilon=score_epsilon, weight_bound=weight_bound,
            accept_weak=accept_weak, ledger=ledger, request_id=request_id, budget=budget,
        )
        self.y_range = y_range

    def _range(self) -> Optional[_Range]:
        self._need("y_range")
        return self.y_range

    def predict(self, X: Any) -> Any:
        """The predicted response of each row. As private as the model."""
        return array(self._ask("predict", X)["predictions"])

    def score(self, X: Any, y: Any = None) -> NotPrivate:
        """R², the share of the variance that is explained. NOT private: a choice by it is paid for by nobody."""
        return self._evaluate(X, y, "r2")


def load(path: _Path, classes: Optional[Sequence[Any]] = None) -> _Linear:
    """The estimator of a model that ``darrm train`` or ``save`` wrote. It predicts; to fit again, state its parameters.

    A model of AUCRanker is a LogisticRegression in its file, whose ``decision_function`` has the scores.

    Args:
        path: the file.
        classes: the values of the response, where they are others than the file's words, or than 0 and 1.

    >>> import darrm, os, tempfile
    >>> ages, grey = [[20], [30], [60], [70]] * 100, ["no", "no", "yes", "yes"] * 100
    >>> model = darrm.LogisticRegression(epsilon=10, delta=1e-6, scale=(0, 100), classes=["no", "yes"]).fit(ages, grey)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.save(path)
    >>> list(darrm.load(path, classes=["no", "yes"]).predict([[10], [90]]))
    ['no', 'yes']

    Raises:
        InputError: the file is no model, a simulation, or one of a kind that no estimator is.
    """
    try:
        model = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise bad(f"{os.fspath(path)}: {e.strerror}") from e
    except ValueError as e:
        raise bad(f"{os.fspath(path)} is no model as darrm train writes it: {e}") from e
    if not isinstance(model, dict) or not isinstance(model.get("model"), list):
        simulated = isinstance(model, dict) and "simulated_model" in model
        what = "is a simulation, not private" if simulated else "is no model as darrm train writes it"
        raise bad(f"{os.fspath(path)} {what}")
    kinds: Dict[str, Any] = {"logit": LogisticRegression, "softmax": LogisticRegression, "sign": LogisticRegression,
                             "rank": AUCRanker, "identity": LinearRegression}
    kind = kinds.get(model.get("link", ""))
    if kind is None:
        raise bad(f"{os.fspath(path)} has the link {model.get('link')!r}, but it must be one of {sorted(kinds)}: darrm predict reads others")
    own = (model.get("preparation") or {}).get("response") or {}
    words = model.get("classes") or own.get("categories") or (0, 1)
    one: _Linear
    if kind is LinearRegression:
        one = LinearRegression(y_range=own.get("scale"))
    else:
        if classes is not None and len(list(classes)) != len(words):
            raise UsageError(f"classes = {list(classes)!r}, but the model has {len(words)}", "usage", 2)
        one = kind(classes=list(words) if classes is None else list(classes))
    one.model_ = model
    return one


def _some(names: List[str]) -> str:
    """Names for a message."""
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _name(column: Any) -> str:
    """A column of an array is named by its number."""
    return column if isinstance(column, str) else f"x{int(column)}"


def _columns(table: Rows) -> List[str]:
    names = table.names if table.names is not None else [f"x{i}" for i in range(len(table.cells[0]))]
    if len(set(names)) < len(names):
        raise bad(f"columns = {names}, but each name must be there once")
    return names


def _weighted(names: List[str], table: Rows, response: str, weights: Any) -> Tuple[List[str], Rows, str]:
    """The table with a last column of weights, and its name."""
    values = vector(weights, "sample_weight")
    if len(values) != len(table.cells):
        raise bad(f"sample_weight has {len(values)} values, but X has {len(table.cells)} rows")
    name = "sample_weight"
    while name in names or name == response:
        name += "_"
    if isinstance(table.cells, list):
        cells: Any = [[*row, w] for row, w in zip(table.cells, values)]
    else:
        numbers = _as_numbers(values)
        if numbers is None:
            raise bad("sample_weight has text, but weights are numbers")
        cells = sys.modules["numpy"].column_stack([table.cells, numbers])
    return [*names, name], Rows(table.names, cells, table.index, table.labelled), name


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (str, bytes))


def _response(y: Any, names: List[str]) -> str:
    """A name for the response: its own, unless a column has it."""
    own = getattr(y, "name", None)
    name = own if isinstance(own, str) and own else "y"
    while name in names:
        name += "_"
    return name


def _run(given: List[Any], form: str, *arguments: str, progress: Optional[Progress] = None) -> str:
    """What the program says of records."""
    several = form == "csv" and b'"' in given[0]  # a row may take several lines
    return reworded(lambda: run(*arguments, stdin=given, progress=progress), None if several else 2)


def _records(names: List[str], table: Rows, response: str = "", values: Optional[Any] = None) -> Tuple[str, List[Any]]:
    """Records as the program reads them: the format, and pieces of bytes."""
    rows = table.cells
    if values is not None and response in names:  # a frame that has the response too, which y replaces
        at = names.index(response)
        names = [*names[:at], *names[at + 1 :]]
        if isinstance(rows, list):
            rows = [[*row[:at], *row[at + 1 :]] for row in rows]
        else:
            rows = sys.modules["numpy"].delete(rows, at, axis=1)
    if not isinstance(rows, list):  # a matrix
        numbers = None if values is None else _as_numbers(values)
        if values is None or numbers is not None:
            return "npy", to_npy(names, rows, None if values is None else (response, numbers))
        rows = [[plain(v) for v in row] for row in getattr(rows, "tolist")()]
    if values is None:
        return "csv", [to_csv(names, rows)]
    return "csv", [to_csv([*names, response], [[*row, value] for row, value in zip(rows, values)])]


def _codes(y: Any, classes: Sequence[Any]) -> Any:
    """The numbers of the classes of an array of numbers, None for anything else."""
    np = sys.modules.get("numpy")
    y = getattr(y, "values", y)  # of a series
    if np is None or not isinstance(y, np.ndarray) or y.ndim != 1 or y.dtype.kind not in "biuf":
        return None
    if not all(isinstance(c, (int, float, np.number, np.bool_)) for c in classes):
        return None
    out = np.full(len(y), math.nan)
    for k in reversed(range(len(classes))):
        out[y == classes[k]] = k
    return None if np.isnan(out).any() else out


def _as_numbers(values: Any) -> Any:
    """Responses as an array of numbers, NaN where one is missing; None where one is text."""
    np = sys.modules["numpy"]
    if isinstance(values, np.ndarray):
        return values
    if any(isinstance(v, str) and v != "" for v in values):
        return None
    return np.array([math.nan if v == "" else v for v in values], dtype=np.float64)


def _refuse_identifiers(names: List[str]) -> None:
    """Refuse columns that number rows or persons, which the program tells by their names alone."""
    described = json.loads(run("train", "describe", "-", "--public-schema", "--data-format=csv", "--json", stdin=to_csv(names, [])))
    found = [c["name"] for c in described if c.get("identifier")]
    if found:
        raise bad(f"column {found[0]!r} has the name of an identifier, which is no feature: list the features in columns")


def _toml(value: Any) -> str:
    """A value as TOML has it, which for text and numbers is as JSON does."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Sequence) or hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1:
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, bool):
        return json.dumps(str(value))
    if hasattr(value, "__index__"):
        return str(int(value))
    if hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"rule = {value!r}, but it must be of numbers and text")


for _kind in (PrivateVote, LogisticRegression, LinearRegression, AUCRanker):
    _kind.__module__ = "darrm"  # where users find it
