"""Tables of numbers as arrays of records (.npy), which the program reads without parsing text. NumPy is not imported for it."""

from __future__ import annotations

import math
import sys
from typing import Any, List, Optional, Sequence, Tuple


def matrix(table: Any) -> Optional[Any]:
    """The table as a matrix of float64 with NaN for what is missing, where it is an array or a frame of numbers; else None.

    Frames of pandas whose columns all are of NumPy's numbers or truth values are taken; nullable, mixed and text
    columns are not, which keep their words.
    """
    np = sys.modules.get("numpy")
    if np is None:
        return None
    if hasattr(table, "dtypes") and hasattr(table, "itertuples"):
        types = [getattr(t, "kind", "O") if isinstance(t, np.dtype) else "O" for t in table.dtypes]
        if not types or any(kind not in "biuf" for kind in types) or any(t.itemsize > 8 for t in table.dtypes):
            return None
        return np.asarray(table.to_numpy(), dtype=np.float64) if _whole(np, table.to_numpy()) else None
    if isinstance(table, np.ndarray) and type(table).__name__ == "ndarray" and table.ndim == 2 and table.dtype.kind in "biuf":
        return np.asarray(table, dtype=np.float64) if _whole(np, table) else None
    return None


def of_numbers(rows: List[List[Any]]) -> Any:
    """Rows of plain cells as a matrix, where all are numbers that a float64 holds or missing; else the rows."""
    np = sys.modules.get("numpy")
    if np is None or not rows or not rows[0]:
        return rows
    for row in rows:
        for v in row:
            if not (type(v) is float or v == "" or type(v) is int and abs(v) <= 2**53):
                return rows
    return np.array([[math.nan if v == "" else v for v in row] for row in rows], dtype=np.float64)


def _whole(np: Any, a: Any) -> bool:
    """Whether every number of an array is a float64: not so of wide integers and of longer floats."""
    if a.dtype.kind not in "biuf" or a.dtype.itemsize > 8:
        return False
    return a.dtype.kind not in "iu" or a.dtype.itemsize < 8 or a.size == 0 or bool(abs(a.min()) <= 2**53 and a.max() <= 2**53)


def to_npy(names: Sequence[str], X: Any, y: Optional[Tuple[str, Any]] = None) -> "list[Any]":
    """An array of records of a matrix, and of a last column: its header and its bytes."""
    np = sys.modules["numpy"]
    rows = X
    if y is not None:
        rows = np.empty((X.shape[0], X.shape[1] + 1))
        rows[:, :-1], rows[:, -1] = X, y[1]
        names = [*names, y[0]]
    fields = ", ".join(f"({name!r}, '<f8')" for name in names)
    text = f"{{'descr': [{fields}], 'fortran_order': False, 'shape': ({X.shape[0]},), }}".encode()
    text += b" " * (-(12 + len(text) + 1) % 64) + b"\n"
    head = b"\x93NUMPY\x03\x00" + len(text).to_bytes(4, "little") + text
    return [head, memoryview(np.ascontiguousarray(rows, dtype="<f8")).cast("B")]
