"""What calls return: the program's JSON with what is most asked for at hand."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from . import _shown


@dataclass(frozen=True)
class Table:
    """A certified table: a noise function, one of many classes or for many answers, or noise for many answers.

    Attributes:
        gamma: γ(0) … γ(K); with l votes for 1 the majority is released with probability γ(l),
            otherwise a fair coin; below 0 the minority with probability -γ(l). Empty for other tables.
        error: the expected error of what it is optimal for; 1 - value for other tables; nan for noise that is
            priced by its label, of which nothing is expected.
        gap: how far at most the error is from the least possible; None where that is not known.
        data: everything else, as the program's JSON has it.

    >>> import darrm
    >>> table = darrm.solve(K=5, m=2, eps=0.5, teacher_delta=0)
    >>> len(table.gamma), table.gap < 1e-9, table.data["k"]
    (6, True, 5)
    """

    gamma: List[float]
    error: float
    gap: Optional[float]
    data: Dict[str, Any] = field(repr=False)

    @classmethod
    def from_json(cls, text: str) -> "Table":
        """Read what ``darrm solve --json`` prints. The promise is checked where it is used."""
        data = json.loads(text)
        if "gamma" not in data:
            return cls([], 1 - data.get("value", float("nan")), data.get("gap"), data)
        return cls(data["gamma"], data["expected_error"], data["certificate"]["gap"], data)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the table for ``darrm aggregate --table`` and ``darrm verify``.

        >>> import darrm, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "table.json")
        >>> darrm.solve(K=3, m=1, eps=1, teacher_delta=0).save(path)
        >>> darrm.verify(path)["k"]
        3
        """
        Path(path).write_text(json.dumps(self.data, indent=2) + "\n", encoding="utf-8")

    def to_frame(self) -> Any:
        """A pandas frame with columns ``votes`` and ``gamma``. Needs pandas."""
        return _frame([{"votes": l, "gamma": g} for l, g in enumerate(self.gamma)])

    def plot(self, ax: Any = None) -> Any:
        """Draw γ, or how often labels are right against the lead of the first class.

        On the axes ``ax`` of matplotlib, which are returned; without them on new ones where ``matplotlib.pyplot`` is
        imported. Else the result is a ``Picture``, which needs no library: a notebook shows it, ``save(path)`` writes SVG.

        >>> import darrm
        >>> darrm.solve(K=3, m=1, eps=1, teacher_delta=0).plot()
        <darrm.Picture: 3 teachers, one label (1, 0)-DP>
        """
        return _shown.table(self.gamma, self.error, self.data).draw(ax)

    def _repr_html_(self) -> str:
        return _shown.table_html(self.gamma, self.error, self.gap, self.data)


@dataclass(frozen=True)
class Certified:
    """A mechanism of one's own that was certified.

    Attributes:
        table: what was proved, and what releases take: ``aggregate(votes, table=mine.table)``.
        per_label: ``epsilon`` and ``delta`` of one label.
        largest_change: of a probability, by rounding.
        data: everything else, as the program's JSON has it.

    >>> import darrm
    >>> mine = darrm.certify(gamma=[0.5], K=1, affected=1, label_eps=2)
    >>> mine.per_label, mine.data["proved"]
    ({'epsilon': 2, 'delta': 0}, 'delta')
    """

    table: Table
    per_label: Dict[str, float]
    largest_change: float
    data: Dict[str, Any] = field(repr=False)

    @classmethod
    def from_json(cls, text: str) -> "Certified":
        """Read what ``darrm certify --json`` prints."""
        data = json.loads(text)
        table = Table.from_json(json.dumps(data["table"]))
        return cls(table, data["per_label"], data["largest_change"], data)


@dataclass(frozen=True)
class Labels:
    """Released labels and what they cost.

    Attributes:
        labels: one for each query, in the order of the votes. ``"abstained"`` names no class.
        queries: the ids of the queries.
        private: False only for a simulation from a seed.
        per_label: ``{"epsilon": …, "delta": …}`` of one label.
        data: everything else, as the program's JSON has it.
        index: the index of the pandas frame of votes; ``None`` for other votes.
    """

    labels: List[Any]
    queries: List[str]
    private: bool
    per_label: Optional[Dict[str, float]]
    data: Dict[str, Any] = field(repr=False)
    index: Any = field(default=None, repr=False, compare=False)

    @property
    def questions(self) -> Dict[str, Dict[str, Any]]:
        """Of questions with several labels, the answers of each question by the names of its labels: 1 for yes, 0 for
        no, or ``"abstained"``.

        >>> import darrm
        >>> votes = [[["cat"], ["cat", "dog"], None], [[], ["bird"], ["bird"]]]
        >>> released = darrm.aggregate(votes, labels=["cat", "dog", "bird"], most_yes=1, missing="no",
        ...                            mechanism="permute-and-flip", label_eps=200, affected=1, accept_weak=True)
        >>> released.questions
        {'0': {'cat': 1, 'dog': 0, 'bird': 0}, '1': {'cat': 0, 'dog': 0, 'bird': 1}}
        """
        out: Dict[str, Dict[str, Any]] = {}
        for query, label in zip(self.queries, self.labels):
            question, between, name = str(query).rpartition("/")  # no label has it in its name
            if not between:
                raise ValueError(f"query {query!r} is no label of a question with several")
            out.setdefault(question, {})[name] = label
        return out

    def to_series(self) -> Any:
        """A pandas series of the labels, with the index of the frame of votes. Needs pandas.

        Where the votes were no frame of pandas, the index holds the queries' ids.
        """
        import pandas

        index = self.queries if self.index is None or len(self.index) != len(self.labels) else self.index
        return pandas.Series(self.labels, index=index, name="label")

    def to_frame(self) -> Any:
        """A pandas frame with columns ``query`` and ``label``. Needs pandas."""
        return _frame([{"query": q, "label": a} for q, a in zip(self.queries, self.labels)])


class Result(Dict[str, Any]):
    """A dict, the program's JSON, whose main list is also a table of rows.

    >>> import darrm
    >>> cost = darrm.account(K=9, label_eps=1, eps="inf", affected=1, queries=[1, 5])
    >>> [(row["queries"], row["epsilon"]) for row in cost.rows]
    [(1, 1), (5, 5)]
    """

    def __init__(self, data: Dict[str, Any], main: str):
        super().__init__(data)
        self._main = main

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The main list: nested ``{"score": {"agreement": …}}`` is ``"score.agreement"``."""
        return [_flat(row) for row in self.get(self._main) or []]

    def to_frame(self) -> Any:
        """The rows as a pandas frame. Needs pandas."""
        return _frame(self.rows)

    def plot(self, ax: Any = None) -> Any:
        """Draw how often each mechanism of a plan or a comparison agrees, a plan's agreement by numbers of teachers, or
        what labels cost together. The axes are as in ``Table.plot``.

        >>> import darrm
        >>> darrm.plan(K=9, eps="inf", affected=1, budget_eps=5, budget_delta=0, queries=5).plot()
        <darrm.Picture: 5 labels of 2 classes within (5, 0)>
        """
        return _shown.result(self._main, self, self.rows).draw(ax)

    def _repr_html_(self) -> str:
        return _shown.html(self._main, self, self.rows)


class Plan(Result):
    """What fits the budget, the best first: ``choices``, ``refused``, ``advice`` and more."""

    @property
    def options(self) -> Dict[str, Any]:
        """The keywords with which aggregate releases as the first choice does.

        >>> import darrm
        >>> plan = darrm.plan(K=9, eps="inf", affected=1, budget_eps=5, budget_delta=0, queries=5)
        >>> plan.options["budget_eps"], plan.options["affected"]
        ('5', '1')
        >>> labels = darrm.aggregate([[1] * 9] * 5, **plan.options)
        >>> labels.data["budget"], len(labels.labels)
        ({'epsilon': 5, 'delta': 0}, 5)
        """
        out = _keywords(self["choices"][0]["args"])
        if self.solve_options is not None:
            del out["table"]
        return out

    @property
    def solve_options(self) -> Optional[Dict[str, Any]]:
        """The keywords with which solve makes the first choice's table; None where aggregate makes it.

        It is a plan by public votes, or of labels that may be abstentions, that aggregate does not
        make itself.
        """
        arguments = self["choices"][0].get("prepare_args")
        return None if arguments is None else _keywords(arguments)


def _keywords(arguments: List[str]) -> Dict[str, Any]:
    """Flags of a command as keywords, but for --out.

    >>> _keywords(["--class", "a", "--class", "b, c", "--same", "a=A", "--abstentions"])
    {'classes': ['a', 'b, c'], 'same': ['a=A'], 'abstentions': True}
    """
    out: Dict[str, Any] = {}
    for i, flag in enumerate(arguments):
        if flag.startswith("--") and flag != "--out":
            value = arguments[i + 1] if i + 1 < len(arguments) else "--"
            name = "classes" if flag == "--class" else flag[2:].replace("-", "_")
            if flag in ("--class", "--same"):  # one for each value
                out.setdefault(name, []).append(value)
            else:
                out[name] = True if value.startswith("--") else value
    return out


def _flat(row: Dict[str, Any], prefix: str = "") -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            out.update(_flat(value, prefix + key + "."))
        else:
            out[prefix + key] = value
    return out


def _frame(rows: List[Dict[str, Any]]) -> Any:
    import pandas  # optional: only who asks for a frame needs it

    return pandas.DataFrame(rows)


for _kind in (Table, Certified, Labels, Result, Plan):
    _kind.__module__ = "darrm"  # where users find it
