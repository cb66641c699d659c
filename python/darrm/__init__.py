"""The best possible private majority vote, from Python.

The package carries the program ``darrm`` and calls it: there is one implementation of every
promise, the program's. It needs Python 3.9 or later and nothing else; NumPy arrays and pandas
frames are taken and given where they are installed.

>>> import darrm
>>> table = darrm.solve(K=11, m=3)
>>> [round(g, 6) for g in table.gamma[:6]]
[1.0, 0.977696, 1.0, 1.0, 0.54234, 0.939241]
>>> round(table.error, 9)
0.041269485

Labels for three queries of five teachers that are each (1, 0)-differentially private:

>>> votes = [[1, 0, 1, 1, 1], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]
>>> released = darrm.aggregate(votes, m=2, eps=1, teacher_delta=0)
>>> len(released.labels), released.per_label
(3, {'epsilon': 2, 'delta': 0})

What goes wrong is an exception of the program's kind, with its hint:

>>> darrm.solve(K=11, m=-3)
Traceback (most recent call last):
    ...
darrm.UsageError: --m: privacy allowance m = -3, but it must be a finite number > 0

Keywords are the program's flags with ``_`` for ``-``: ``label_eps=0.5`` is ``--label-eps 0.5``.
``True`` gives a flag without a value, ``None`` leaves it out. ``darrm <command> --help``, or
``darrm.run("solve", "--help")``, says what there is.

==============  ==========================================================================
symbol          keyword
==============  ==========================================================================
K               ``K``, how many teachers vote
ε, Δ            ``eps`` and ``teacher_delta``, what each teacher promises
m               ``m``: one label may cost m·ε; or ``label_eps``, the label's ε itself
δ               ``delta`` of one label
t               ``affected``, the most teachers that one person's record reaches
==============  ==========================================================================
"""

from ._program import (
    BudgetError,
    DarrmError,
    Failure,
    InputError,
    Interrupted,
    LedgerError,
    OutputError,
    SolverError,
    UncertifiedError,
    UsageError,
    run,
)
from importlib import metadata as _metadata

from ._budget import Budget, NotPrivate
from ._calls import account, aggregate, certify, compare, describe, plan, price, solve, verify
from ._client import (
    Answer,
    BudgetExhausted,
    Client,
    Conflict,
    Forbidden,
    InvalidRequest,
    RateLimited,
    ServiceError,
    Unauthorized,
    Unavailable,
)
from ._estimators import AUCRanker, LinearRegression, LogisticRegression, PrivateVote, load
from ._ledger import Ledger
from ._pictures import Picture
from ._results import Certified, Labels, Plan, Result, Table
from ._students import LabelLaw, Student

__all__ = [
    "AUCRanker", "Answer", "Budget", "BudgetError", "BudgetExhausted", "Certified", "Client", "Conflict", "DarrmError", "Failure",
    "Forbidden", "InputError", "Interrupted", "InvalidRequest", "LabelLaw", "Labels", "Ledger", "LedgerError", "LinearRegression",
    "LogisticRegression", "NotPrivate", "OutputError", "Picture", "Plan", "PrivateVote", "RateLimited", "Result", "ServiceError",
    "SolverError", "Student", "Table", "Unauthorized", "Unavailable", "UncertifiedError", "UsageError", "account", "aggregate",
    "certify", "compare",
    "describe", "load", "plan", "price", "run", "solve", "verify",
]

try:
    #: The version of the installed package, such as ``"0.1.0"``.
    __version__ = _metadata.version("darrm")
except _metadata.PackageNotFoundError:
    __version__ = "0+source"  # a source tree, which has no version of its own
