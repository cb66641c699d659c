"""The calls: parameters in, objects out."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._program import Progress, flags, run
from ._results import Certified, Labels, Plan, Result, Table
from ._rows import read

_Path = Union[str, "os.PathLike[str]"]


def solve(*, progress: Optional[Progress] = None, **options: Any) -> Table:
    """Find the best noise function. Keywords are the flags of ``darrm solve``.

    >>> import darrm
    >>> table = darrm.solve(K=11, m=3, eps=0.1, teacher_delta=1e-5)
    >>> round(table.error, 6)
    0.041269

    Raises:
        DarrmError: its subclass says what went wrong.
    """
    return Table.from_json(run("solve", "--json", *flags(options), progress=progress))


def verify(table: Union[Table, _Path], **options: Any) -> Dict[str, Any]:
    """Check a table from scratch: privacy and optimality. Returns the program's findings.

    >>> import darrm
    >>> table = darrm.solve(K=3, m=1, eps=1, teacher_delta=0)
    >>> darrm.verify(table)["gamma"] == table.gamma
    True
    >>> table.data["m"] = 0.5                       # a promise that it does not keep
    >>> darrm.verify(table)
    Traceback (most recent call last):
        ...
    darrm.UncertifiedError: ...

    Raises:
        UncertifiedError: the table does not keep its promise.
    """
    if isinstance(table, Table):
        text = run("verify", "--json", *flags(options), "-", stdin=json.dumps(table.data).encode())
    else:
        text = run("verify", "--json", *flags(options), "--", os.fspath(table))
    found: Dict[str, Any] = json.loads(text)
    return found


def certify(
    mechanism: Union[Dict[str, Any], _Path, None] = None,
    *,
    gamma: Any = None,
    histograms: Any = None,
    progress: Optional[Progress] = None,
    **options: Any,
) -> Certified:
    """Prove what a mechanism of one's own promises, and make a table of it.

    Args:
        mechanism: a file's path (CSV or JSON), or a dict of its JSON form. Or one of the next two.
        gamma: γ(0) … γ(K) of a noise function, or the half below K/2. Say ``K``.
        histograms: for each histogram of votes, the most votes first, the probability of each of its
            classes: a dict from tuples of votes to probabilities, or a list of such pairs. Where there
            is one probability more than there are classes, the last is that of no class.
        progress: called with a dict for each step.
        options: the flags of ``darrm certify``: ``label_eps`` or ``delta``, ``affected`` and others.

    The rounded table alone is proved: release with it.

    >>> import darrm
    >>> mine = darrm.certify(gamma=[0.7, 0.3, 0.1], K=5, affected=1, delta=0)
    >>> mine.per_label, mine.largest_change < 1e-16, mine.table.data["k"]
    ({'epsilon': 0.8472978604, 'delta': 0}, True, 5)
    >>> mine = darrm.certify(histograms={(1, 0): [0.75, 0.25]}, affected=1, delta=0)
    >>> mine.per_label["epsilon"]                          # ln 3, rounded up
    1.098612289

    Raises:
        InputError: the values are no mechanism; the message names the votes.
        UncertifiedError: nothing can be proved.
    """
    if (mechanism is not None) + (gamma is not None) + (histograms is not None) != 1:
        raise TypeError("give exactly one of mechanism, gamma and histograms")
    if isinstance(mechanism, (str, os.PathLike)):
        text = run("certify", "--json", *flags(options), "--", os.fspath(mechanism), progress=progress)
        return Certified.from_json(text)
    if mechanism is not None and not isinstance(mechanism, Mapping):
        raise TypeError("mechanism must be a file's path or a dict of its JSON form; the values of a noise function are gamma=")
    form: Dict[str, Any] = dict(mechanism or {})
    if gamma is not None:
        form["gamma"] = [float(x) for x in gamma]
    if histograms is not None:
        pairs = histograms.items() if hasattr(histograms, "items") else histograms
        form["histograms"] = [_law(votes, probabilities) for votes, probabilities in pairs]
    given = json.dumps(form).encode()
    return Certified.from_json(run("certify", "--json", *flags(options), "-", stdin=given, progress=progress))


def _law(votes: Any, probabilities: Any) -> Dict[str, Any]:
    """A histogram as the program reads it."""
    law: Dict[str, Any] = {"votes": [int(v) for v in votes], "probabilities": [float(p) for p in probabilities]}
    if len(law["probabilities"]) == len(law["votes"]) + 1:
        law["abstain"] = law["probabilities"].pop()
    return law


def aggregate(
    votes: Any, *, table: Union[Table, _Path, None] = None, progress: Optional[Progress] = None, **options: Any
) -> Labels:
    """Release one private label for each query.

    Args:
        votes: a file's path, or rows of votes: a sequence of sequences, a NumPy array, or a frame
            of pandas, polars, Arrow or what else has the dataframe interchange protocol; a row
            for each query and a column for each teacher. With ``layout="counts"``, a column for
            each class. The index of a pandas frame, where it is not just 0, 1, …, holds the
            queries' ids; so does a column ``query`` or ``id``. With ``labels=[…]`` each query is a question with
            several yes/no labels, and a cell a list or a set of names, or ``"cat|dog"``; or an array of
            queries × teachers × labels, of 0 and 1. The answers of each question are in ``.questions``.
        table: a Table, or a file of one. Say with it what your own teachers promise.
        progress: called with a dict for each step.
        options: the flags of ``darrm aggregate``. With ``out="labels.json"`` the labels are in
            that file too, and a request that was released before gives them again.

    Classes that are not alike: ``shares={"no": 0.9, "yes": 0.1}`` and ``cost={("no", "yes"): 9}``, which is what
    the answer *no* costs where *yes* has the most votes. Both must be public. A list of shares is in the order of
    ``classes``, and so are the rows (answers) and columns of a list of costs.

    Without a ledger every call is a new release: charge what is released to one with
    ``ledger=…, request_id=…``.

    >>> import darrm
    >>> votes = [["cat", "cat", "dog"], ["bird", "bird", "bird"]]
    >>> released = darrm.aggregate(votes, classes=["cat", "dog", "bird"], mechanism="permute-and-flip",
    ...                            label_eps=600, affected=1,     # so large that nothing is hidden,
    ...                            accept_weak=True)              # which is refused unless it is accepted
    >>> released.labels
    ['cat', 'bird']

    More than two classes have a proved optimum, which is the default:

    >>> released = darrm.aggregate(votes, classes=["cat", "dog", "bird"], label_eps=1, affected=1)
    >>> released.data["mechanism"], released.per_label
    ('optimal-counts', {'epsilon': 1, 'delta': 0})

    Raises:
        DarrmError: and then nothing is released.
    """
    if options.get("dry_run"):
        raise TypeError("dry_run releases nothing: call darrm.price")
    if isinstance(table, Table):
        # A table goes by a file, since the votes are on standard input.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.json"
            table.save(path)
            return aggregate(votes, table=path, progress=progress, **options)
    text, index = _with_votes(["aggregate"], votes, progress, {"table": table, **options})
    data: Dict[str, Any] = json.loads(text or Path(options["out"]).read_text(encoding="utf-8"))
    answers = data.pop("labels" if data["private"] else "simulated_labels", [])
    return Labels(
        [a["label"] for a in answers], [a["query"] for a in answers], data["private"], data.get("per_label"), data, index
    )


def price(votes: Any, *, progress: Optional[Progress] = None, **options: Any) -> Dict[str, Any]:
    """What aggregate would charge, by a dry run: nothing is released and nothing charged.

    >>> import darrm
    >>> cost = darrm.price([[1, 0, 1, 1, 1]] * 7, eps="inf", affected=1, label_eps=0.5)
    >>> cost["queries"], cost["all_labels_fresh_teachers"]
    (7, {'epsilon': 3.5, 'delta': 0})
    """
    if isinstance(options.get("table"), Table):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.json"
            options["table"].save(path)
            return price(votes, progress=progress, **{**options, "table": path})
    cost: Dict[str, Any] = json.loads(_with_votes(["aggregate"], votes, progress, {**options, "dry_run": True})[0])
    return cost


def compare(
    votes: Any,
    *,
    tables: Sequence[Union[Table, Certified, _Path]] = (),
    progress: Optional[Progress] = None,
    **options: Any,
) -> Result:
    """How well every mechanism would do on these votes. The figures are NOT private.

    Args:
        votes: as in aggregate.
        tables: tables to compare besides, such as certify's. Where no promise is stated, it is that of
            the first one. Those that are no files are called ``table 1``, ``table 2``, …
        progress: called with a dict for each step.
        options: the flags of ``darrm compare``.

    >>> import darrm
    >>> votes = [[1, 0, 1, 1, 1], [0, 0, 0, 1, 0]]
    >>> best = darrm.compare(votes, label_eps=1, eps="inf", affected=1).rows[0]
    >>> best["title"], round(best["score.agreement"], 3)
    ('optimal-counts', 0.901)
    >>> mine = darrm.certify(gamma=[0.7, 0.3, 0.1], K=5, affected=1, label_eps=1)
    >>> rows = darrm.compare(votes, tables=[mine]).rows
    >>> rows[0]["title"], round(rows[0]["score.agreement"], 3)
    ('table 1', 0.65)
    """
    with tempfile.TemporaryDirectory() as folder:
        names: Dict[str, str] = {}
        command = ["compare"]
        for i, table in enumerate(tables):
            if isinstance(table, Certified):
                table = table.table
            if isinstance(table, Table):
                path = os.path.join(folder, f"{i + 1}.json")
                names[path] = f"table {i + 1}"
                table.save(path)
            else:
                path = os.fspath(table)
            command.append(f"--table={path}")
        data = json.loads(_with_votes(command, votes, progress, options)[0])
    for row in data["mechanisms"]:
        row["title"] = names.get(row["title"].rpartition(", ")[2], row["title"])  # its file was temporary
    return Result(data, "mechanisms")


def describe(votes: Any, *, progress: Optional[Progress] = None, **options: Any) -> Result:
    """What the votes look like (``darrm votes describe``). NOT private: for your eyes only.

    >>> import darrm
    >>> look = darrm.describe([[1, 0, 1, 1, 1], [0, 0, 0, 1, 0]])
    >>> look["queries"], look["k"], look["agreement"]
    (2, 5, 0.8)
    >>> look["histogram"]                       # queries with 0, 1, … 5 votes for 1
    [0, 1, 0, 0, 1, 0]
    """
    return Result(json.loads(_with_votes(["votes", "describe"], votes, progress, options)[0]), "teachers")


def plan(votes: Any = None, *, progress: Optional[Progress] = None, **options: Any) -> Plan:
    """From a budget to a mechanism: what to use, what to expect of it, and what it costs.

    Args:
        votes: as in aggregate, or ``None`` with ``K`` (and ``num_classes``) stated. Choosing a
            mechanism by private votes is not covered by the budget.
        progress: called with a dict for each step.
        options: the flags of ``darrm plan``.

    >>> import darrm
    >>> plan = darrm.plan(K=9, eps="inf", affected=1, budget_eps=5, budget_delta=0, queries=5)
    >>> plan["choices"][0]["title"], round(plan["choices"][0]["agreement"], 4)
    ('optimal-counts', 0.9198)
    >>> votes = [[1, 1, 1, 1, 1, 1, 1, 1, 0]] * 5
    >>> darrm.aggregate(votes, **plan.options).per_label
    {'epsilon': 1, 'delta': 0}

    Shares and costs of the classes are taken as by ``aggregate``:

    >>> plan = darrm.plan(K=5, num_classes=2, affected=1, budget_eps=3, budget_delta=1e-3, queries=2, shares=[0.9, 0.1])
    >>> by = plan["choices"][0]["by_class"]
    >>> by["constant"], by["tells"], by["recall"][0] > by["recall"][1]
    ('0', True, True)

    How many teachers? Rows of numbers of teachers, where each number may have an accuracy of its own:

    >>> sizes = darrm.plan(compare_K=[5, 15], compare_prior_mean=[0.8, 0.75], affected=1,
    ...                    budget_eps=5, budget_delta=0, queries=5).rows
    >>> [(row["k"], round(row["agreement"], 2)) for row in sizes]
    [(5, 0.88), (15, 0.97)]
    """
    if votes is None:
        main = "sizes" if options.get("compare_K") is not None else "choices"
        return Plan(json.loads(run("plan", "--json", *flags(options), progress=progress)), main)
    return Plan(json.loads(_with_votes(["plan"], votes, progress, options)[0]), "choices")


def account(*, progress: Optional[Progress] = None, **options: Any) -> Result:
    """What answers cost together, by every bound, before any is released.

    >>> import darrm
    >>> cost = darrm.account(K=250, label_eps=0.05, eps="inf", affected=1, queries=[1, 100], slack=1e-6)
    >>> [row["epsilon"] < 0.05 * row["queries"] for row in cost.rows[1:]]
    [True]
    """
    data = json.loads(run("account", "--json", *flags(options), progress=progress))
    return Result(data, "fresh_teachers")


def _with_votes(
    command: List[str], votes: Any, progress: Optional[Progress], options: Dict[str, Any]
) -> Tuple[str, Any]:
    """What the program prints, and the index of the votes where they are a frame of pandas."""
    if isinstance(votes, (str, os.PathLike)):
        return run(*command, "--json", *flags(options), "--", os.fspath(votes), progress=progress), None
    rows, options, index = read(votes, options)
    return run(*command, "--json", *flags(options), "-", stdin=rows, progress=progress), index
