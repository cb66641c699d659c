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
