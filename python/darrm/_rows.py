"""Votes from Python as the program reads them: CSV."""

from __future__ import annotations

import csv
import io
from typing import Any, Dict, List, Optional, Tuple

from ._tables import bad, plain
from ._tables import read as read_table


def read(votes: Any, options: Dict[str, Any]) -> Tuple[bytes, Dict[str, Any], Any]:
    """The rows as CSV, the options with what the rows say about themselves, and a frame's index."""
    options = dict(options)
    if options.get("labels") is not None or options.get("num_labels") is not None:
        votes = _sets(votes, options)
    header, rows, index = _rows(votes, options.get("id_column") is not None)
    if header is None and options.get("layout") == "teachers":  # a row for each teacher
        rows, index = list(zip(*rows)), None
        del options["layout"]
    if header is None and not rows:
        raise bad("no votes")
    width = len(rows[0]) if header is None else len(header)
    # The first row is votes also where it looks like names, and names where it looks like votes.
    options.setdefault("header", "no" if header is None else "yes")
    if header is None and options.get("vote_columns") is None:  # every other column is a vote
        others = [str(options[o]) for o in ("id_column", "label_column") if options.get(o) is not None]
        columns = [str(c + 1) for c in range(width) if str(c + 1) not in others]
        if options.get("layout") == "counts":
            options["vote_columns"] = columns
        elif options.get("layout") in (None, "wide") and options.get("K") is None:
            options["K"] = len(columns)
    return to_csv(header, rows), options, index


def _sets(votes: Any, options: Dict[str, Any]) -> Any:
    """The votes on questions with several labels, of which each is a set: lists and sets of names as the program
    reads them, ``cat|dog``; and arrays of queries × teachers × labels, of 0 and 1, as such sets."""
    stated = options.get("labels")
    if isinstance(stated, str):
        stated = [n.strip() for n in stated.split(",")]
    names: List[str] = [str(i) for i in range(int(options["num_labels"]))] if stated is None else [str(n) for n in stated]
    separator = options.get("separator") or "|"

    def joined(labels: Any) -> str:
        labels = [str(plain(v)) for v in (sorted(labels, key=str) if isinstance(labels, (set, frozenset)) else labels)]
        for one in labels:
            if not one or separator in one:
                raise bad(f"label = {one!r}, but it must be a name without {separator!r}, the separator: state another one")
        if not labels and options.get("missing") != "no":  # a blank cell would be a vote that is missing
            raise bad("a set of labels is empty: with missing='no' that is no to every label, as a missing vote is")
        return separator.join(labels)

    def ones(cell: Any) -> List[str]:
        cell = list(cell)
        if len(cell) != len(names) or any(v not in (0, 1) for v in cell):
            raise bad(f"a vote has {len(cell)} numbers, but it must have {len(names)} of 0 and 1, one for each label")
        return [name for name, v in zip(names, cell) if v]

    def set_of(cell: Any) -> bool:
        return hasattr(cell, "__iter__") and not isinstance(cell, (str, bytes, dict))

    if getattr(votes, "ndim", 2) == 3:
        return [[joined(ones(cell)) for cell in row] for row in votes.tolist()]
    if hasattr(votes, "columns") and hasattr(votes, "itertuples"):
        each = getattr(type(votes), "map", None) or type(votes).applymap  # before pandas 2.1
        return each(votes, lambda c: joined(c) if set_of(c) else c)
    if isinstance(votes, (list, tuple)):
        return [[joined(c) if set_of(c) else c for c in row] if set_of(row) else row for row in votes]
    return votes


def to_csv(header: Optional[List[str]], rows: Any) -> bytes:
    """Rows as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()


def _rows(votes: Any, named: bool) -> Tuple[Optional[List[str]], Any, Any]:
    """The names of the columns, if they have any, the rows, and a frame's index."""
    table = read_table(votes, "votes")
    index = table.index
    if table.names is None or index is None:
        return table.names, table.cells, None
    # An index that counts from 0 is none; another one holds the queries' ids.
    counts = hasattr(index, "step") and index.name is None
    if counts or named or "query" in table.names or "id" in table.names:
        return table.names, table.cells, index
    ids = [plain(str(i) if isinstance(i, tuple) else i) for i in index]  # of several levels
    return ["query", *table.names], [[i, *row] for i, row in zip(ids, table.cells)], index
