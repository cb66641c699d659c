"""The calls: parameters in, objects out."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from ._program import Progress, flags, run


@dataclass(frozen=True)
class Table:
    """A certified noise function.

    Attributes:
        gamma: γ(0) … γ(K); with l votes for 1 the majority is released with probability γ(l),
            otherwise a fair coin.
        error: the expected error of what it is optimal for.
        gap: how far at most the error is from the least possible.
        data: everything else, as the program's JSON has it.
    """

    gamma: list
    error: float
    gap: float
    data: dict = field(repr=False)

    @classmethod
    def from_json(cls, text: str) -> "Table":
        """Read what ``darrm solve --json`` prints. The promise is checked where it is used."""
        data = json.loads(text)
        return cls(data["gamma"], data["expected_error"], data["certificate"]["gap"], data)

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Write the table for ``darrm aggregate --table`` and ``darrm verify``."""
        Path(path).write_text(json.dumps(self.data, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Labels:
    """Released labels and what they cost.

    Attributes:
        labels: one for each query, in the order of the votes. ``None`` is an abstention.
        queries: the ids of the queries.
        private: False only for a simulation from a seed.
        per_label: ``{"epsilon": …, "delta": …}`` of one label.
        data: everything else, as the program's JSON has it.
    """

    labels: list
    queries: list
    private: bool
    per_label: Optional[dict]
    data: dict = field(repr=False)


def solve(*, progress: Optional[Progress] = None, **options: Any) -> Table:
    """Find the best noise function: ``solve(K=11, m=3, eps=0.1, teacher_delta=1e-5)``.

    Keywords are the flags of ``darrm solve``. Raises DarrmError.
    """
    return Table.from_json(run("solve", "--json", *flags(options), progress=progress))


def verify(table: Union[Table, str, os.PathLike], **options: Any) -> dict:
    """Check a table from scratch: privacy and optimality. Returns the program's findings."""
    if isinstance(table, Table):
        return json.loads(run("verify", "--json", *flags(options), "-", stdin=json.dumps(table.data).encode()))
    return json.loads(run("verify", "--json", *flags(options), os.fspath(table)))


def aggregate(
    votes: Any, *, table: Union[Table, str, os.PathLike, None] = None, progress: Optional[Progress] = None, **options: Any
) -> Labels:
    """Release one private label for each query.

    Args:
        votes: a file's path, or rows of votes: a sequence of sequences, a NumPy array or a
            pandas frame, a row for each query and a column for each teacher. With
            ``layout="counts"``, a column for each class.
        table: a Table, or a file of one. Say with it what your own teachers promise.
        progress: called with a dict for each step.
        options: the flags of ``darrm aggregate``.

    Without a ledger every call is a new release: charge what is released to one with
    ``ledger=…, request_id=…``.

    Raises:
        DarrmError: and then nothing is released.
    """
    if isinstance(table, Table):
        # A table goes by a file, since the votes are on standard input.
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.json"
            table.save(path)
            return aggregate(votes, table=path, progress=progress, **options)
    data = json.loads(_with_votes("aggregate", votes, progress, table=table, **options))
    answers = data.pop("labels")
    return Labels([a["label"] for a in answers], [a["query"] for a in answers], data["private"], data.get("per_label"), data)


def compare(votes: Any, *, progress: Optional[Progress] = None, **options: Any) -> dict:
    """How well every mechanism would do on these votes. The figures are NOT private."""
    return json.loads(_with_votes("compare", votes, progress, **options))


def plan(votes: Any = None, *, progress: Optional[Progress] = None, **options: Any) -> dict:
    """From a budget to a mechanism: what to use, what to expect of it, and what it costs.

    Args:
        votes: as in aggregate, or ``None`` with ``K`` (and ``classes``) stated.
        options: the flags of ``darrm plan``.
    """
    if votes is None:
        return json.loads(run("plan", "--json", *flags(options), progress=progress))
    return json.loads(_with_votes("plan", votes, progress, **options))


def _with_votes(command: str, votes: Any, progress: Optional[Progress], **options: Any) -> str:
    if isinstance(votes, (str, os.PathLike)):
        return run(command, "--json", *flags(options), os.fspath(votes), progress=progress)
    text, width = _csv(votes)
    if options.get("layout") is None and options.get("K") is None and not hasattr(votes, "columns"):
        options["K"], options["header"] = width, "no"  # rows without names: every column is a teacher
    return run(command, "--json", *flags(options), "-", stdin=text, progress=progress)


def _csv(votes: Any) -> "tuple[bytes, int]":
    """The rows as CSV, with a header only where the columns have names, and the columns' number."""
    header: Optional[Sequence] = None
    if hasattr(votes, "columns") and hasattr(votes, "itertuples"):  # a pandas frame
        header = list(votes.columns)
        rows = votes.itertuples(index=False)
    elif hasattr(votes, "tolist"):  # a NumPy array
        if getattr(votes, "ndim", 2) != 2:
            raise ValueError(f"votes have {votes.ndim} axes, but they need 2: queries and teachers")
        rows = votes.tolist()
    else:
        rows = votes
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    width = len(header) if header is not None else None
    for i, row in enumerate(rows):
        row = [_plain(v) for v in row]
        if width is None:
            width = len(row)
        if len(row) != width:
            raise ValueError(f"row {i} of the votes has {len(row)} columns, but the others have {width}")
        writer.writerow(row)
    if width is None:
        raise ValueError("no votes")
    return out.getvalue().encode(), width


def _plain(value: Any) -> Any:
    """True and 1.0 as the program reads them, and NaN, which is a missing vote."""
    if isinstance(value, float) and value != value:
        return ""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value
