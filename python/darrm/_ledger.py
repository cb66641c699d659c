"""A privacy budget on disk."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Union

from ._program import flags, run
from ._results import Result


class Ledger:
    """A ledger: what was granted, and what every release has spent.

    Give it to aggregate as ``ledger=…`` with a ``request_id``.

    >>> import darrm, os, tempfile
    >>> ledger = darrm.Ledger.create(os.path.join(tempfile.mkdtemp(), "l.ledger"), eps=2, delta=0)
    >>> votes = [[1, 0, 1, 1, 1], [0, 0, 0, 1, 0]]
    >>> released = darrm.aggregate(votes, eps="inf", affected=1, label_eps=0.5, ledger=ledger, request_id="march")
    >>> ledger.show()["remaining"]
    {'epsilon': 1, 'delta': 0}
    >>> [(row["request"], row["total.epsilon"]) for row in ledger.history().rows if row["kind"] == "charge"]
    [('march', 1)]
    >>> ledger.verify()["verified"]
    True
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        self.path = os.fspath(path)

    @classmethod
    def create(cls, path: Union[str, "os.PathLike[str]"], *, eps: float, delta: float, **options: Any) -> "Ledger":
        """Make a new ledger with a budget, which is fixed for ever. The path must not exist."""
        run("budget", "init", "--json", *flags({"eps": eps, "delta": delta, **options}), "--", os.fspath(path))
        return cls(path)

    def show(self) -> Dict[str, Any]:
        """What was granted, spent and remains."""
        return dict(self._call("show"))

    def history(self) -> Result:
        """Every charge and every recorded result, in order."""
        return Result(self._call("history"), "entries")

    def verify(self) -> Dict[str, Any]:
        """Check the ledger from its first entry to its last. Raises LedgerError."""
        return self._call("verify")

    def report(self, out: Union[str, "os.PathLike[str]", None] = None) -> Result:
        """What the person who signs reads; with ``out`` an HTML page too."""
        return Result(self._call("report", out=None if out is None else os.fspath(out)), "charges")

    def _call(self, command: str, **options: Any) -> Dict[str, Any]:
        data: Dict[str, Any] = json.loads(run("budget", command, "--json", *flags(options), "--", self.path))
        return data

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"darrm.Ledger({self.path!r})"


Ledger.__module__ = "darrm"  # where users find it
