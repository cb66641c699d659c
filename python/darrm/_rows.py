"""Votes from Python as the program reads them: CSV."""

from __future__ import annotations

import csv
import io
from typing import Any, Dict, List, Optional, Tuple


def read(votes: Any, options: Dict[str, Any]) -> Tuple[bytes, Dict[str, Any]]:
    """The rows as CSV, and the options with what the rows say about themselves."""
    options = dict(options)
    header, rows = _rows(votes, options.get("id_column") is not None)
    if header is None and options.get("layout") == "teachers":  # a row for each teacher
        rows = list(zip(*rows))
        del options["layout"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    width = len(header) if header is not None else None
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
            raise TypeError(f"row {i} of the votes is {row!r}, but it must be a sequence of votes")
        values = [_plain(v) for v in row]
        if width is None:
            width = len(values)
        if len(values) != width:
            raise ValueError(f"row {i} of the votes has {len(values)} columns, but the others have {width}")
        writer.writerow(values)
    if width is None:
        raise ValueError("no votes")
    # The first row is votes also where it looks like names, and names where it looks like votes.
    options.setdefault("header", "no" if header is None else "yes")
    if header is None and options.get("vote_columns") is None:  # every other column is a vote
        others = [str(options[o]) for o in ("id_column", "label_column") if options.get(o) is not None]
        columns = [str(c + 1) for c in range(width) if str(c + 1) not in others]
        if options.get("layout") == "counts":
            options["vote_columns"] = columns
        elif options.get("layout") in (None, "wide") and options.get("K") is None:
            options["K"] = len(columns)
    return out.getvalue().encode(), options


def _rows(votes: Any, ids: bool) -> Tuple[Optional[List[Any]], Any]:
    """The names of the columns, if they have any, and the rows."""
    if hasattr(votes, "columns") and hasattr(votes, "itertuples"):  # a pandas frame
        names = [str(c) for c in votes.columns]
        # An index that counts from 0 is none; another one holds the queries' ids.
        counts = hasattr(votes.index, "step") and votes.index.name is None
        if counts or ids or "query" in names or "id" in names:
            return names, votes.itertuples(index=False, name=None)
        return ["query", *names], votes.itertuples(index=True, name=None)
    if hasattr(votes, "tolist"):  # a NumPy array
        if getattr(votes, "ndim", 2) != 2:
            raise ValueError(f"votes have {votes.ndim} axes, but they need 2: queries and teachers")
        return None, votes.tolist()
    if isinstance(votes, (dict, bytes)) or not hasattr(votes, "__iter__"):
        raise TypeError(f"votes are a {type(votes).__name__}, but they must be rows, an array, a frame or a file's path")
    return None, votes


def _plain(value: Any) -> Any:
    """True and 1.0 as the program reads them, and nothing for a missing vote: None, NaN, NA."""
    kind = type(value).__name__
    if value is None or kind == "NAType" or value != value:
        return ""
    if kind in ("bool", "bool_") or (hasattr(value, "is_integer") and value.is_integer()):
        return int(value)
    return value
