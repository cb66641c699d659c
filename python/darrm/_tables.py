"""Tables from Python: rows of cells, with the names of the columns where there are any."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._numbers import matrix, of_numbers
from ._program import InputError


@dataclass(frozen=True)
class Rows:
    """A table.

    Attributes:
        names: the names of the columns; ``None`` for plain rows.
        cells: for each row its cells, as ``plain`` gives them.
        index: the index of a pandas frame, else ``None``.
        labelled: whether the names are text; the columns of a pandas frame may be numbered instead.
    """

    names: Optional[List[str]]
    cells: Sequence[Sequence[Any]]
    index: Any = None
    labelled: bool = True


def bad(message: str) -> InputError:
    """An error of the kind that the program gives for a malformed file."""
    return InputError(message, "input", 3)


def read(table: Any, what: str, numbers: bool = False) -> Rows:
    """Read rows, an array or a frame, named ``what`` in errors. With ``numbers``, the cells of those that are of
    numbers alone are a matrix of float64, with NaN where one is missing.

    Frames of pandas are read by pandas, since its interchange protocol lacks columns of mixed types and the
    nullable ones; any other frame by that protocol (``__dataframe__``). No library is imported for it.
    """
    if not hasattr(table, "tolist") and not hasattr(table, "columns") and hasattr(table, "__array__") and "numpy" in sys.modules:
        table = sys.modules["numpy"].asarray(table)
    X = matrix(table) if numbers else None
    if hasattr(table, "columns") and hasattr(table, "itertuples"):
        names, index = [str(c) for c in table.columns], table.index
        labelled = any(isinstance(c, str) for c in table.columns)
        if X is not None:
            return Rows(names, X, index, labelled)
        cells = list(table.itertuples(index=False, name=None))
        if not names:
            cells = [()] * len(index)
        return Rows(names, _checked(cells, what, len(names)), index, labelled)
    if hasattr(table, "__dataframe__"):
        names, cells = _interchange(table.__dataframe__())
        return Rows(names, _checked(cells, what, len(names)))
    if hasattr(table, "tocoo"):
        raise TypeError(f"{what} must not be a sparse matrix: give {what}.toarray()")
    if hasattr(table, "tolist"):
        axes = getattr(table, "ndim", 2)
        if axes != 2:
            raise bad(f"{what} must have 2 axes, rows and columns, not {axes}. Reshape your data")
        if X is not None:
            return Rows(None, X)
        cells = _checked(table.tolist(), what, table.shape[1])
        return Rows(None, of_numbers(cells) if numbers else cells)
    if isinstance(table, (str, dict, bytes)) or not hasattr(table, "__iter__"):
        raise TypeError(f"{what} must be rows, an array or a frame, not a {type(table).__name__}")
    cells = _checked(list(table), what)
    return Rows(None, of_numbers(cells) if numbers else cells)


def vector(values: Any, what: str) -> List[Any]:
    """Read one value for each row."""
    for method in ("tolist", "to_list", "to_pylist", "__array__"):  # NumPy and pandas, polars, Arrow, others
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, dict, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{what} is a {type(values).__name__}, but it must be a sequence of values")
    out = list(values)
    if any(isinstance(v, (list, tuple)) for v in out):
        raise bad(f"{what} must have one value for each row, not a list of them: {what}.ravel(), or a column of a frame")
    return [plain(v) for v in out]


def plain(value: Any) -> Any:
    """True and 1.0 as the program reads them, and nothing for a missing cell: None, NaN, NA."""
    kind = type(value).__name__
    if value is None or kind == "NAType" or value != value:
        return ""
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
        raise TypeError(f"cell = {value!r}: argument must be a string or a number")
    if isinstance(value, complex):
        raise bad(f"cell = {value}: Complex data not supported")
    if kind in ("bool", "bool_") or (hasattr(value, "is_integer") and value.is_integer()):
        return int(value)
    return value


def _checked(rows: List[Any], what: str, width: Optional[int] = None) -> List[List[Any]]:
    """The rows with plain cells. All must be sequences of one length."""
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
            raise TypeError(f"row {i} of the {what} is {row!r}, but it must be a sequence. Reshape your data")
        rows[i] = row = [plain(v) for v in row]
        width = len(row) if width is None else width
        if len(row) != width:
            raise bad(f"row {i} of the {what} has {len(row)} columns, but the others have {width}")
    return rows


# The dataframe interchange protocol (data-apis.org/dataframe-protocol): kinds of columns, kinds of
# missing values, and the device of a buffer.
_INT, _UINT, _FLOAT, _BOOL, _STRING, _CATEGORY = 0, 1, 2, 20, 21, 23
_NOT_NULLABLE, _NAN, _SENTINEL, _BITS, _BYTES = range(5)
_CPU = 1
_FORMATS: Dict[Tuple[int, int], str] = {
    (_INT, 8): "b", (_INT, 16): "h", (_INT, 32): "i", (_INT, 64): "q", (_UINT, 8): "B", (_UINT, 16): "H",
    (_UINT, 32): "I", (_UINT, 64): "Q", (_FLOAT, 32): "f", (_FLOAT, 64): "d", (_BOOL, 8): "B",
}


def _interchange(frame: Any) -> Tuple[List[str], List[Any]]:
    names = [str(n) for n in frame.column_names()]
    cells: List[Any] = []
    for chunk in frame.get_chunks():
        columns = [_column(chunk.get_column(i), name) for i, name in enumerate(names)]
        cells += zip(*columns)
    return names, cells


def _column(column: Any, name: str) -> List[Any]:
    """The values of a column, None where one is missing."""
    size = column.size() if callable(column.size) else column.size
    kind, buffers, start = int(column.dtype[0]), column.get_buffers(), column.offset
    if kind == _CATEGORY:
        words = _column(column.describe_categorical["categories"], name)
        codes = _numbers(buffers["data"], start, size, name)
        values: List[Any] = [words[c] if 0 <= c < len(words) else None for c in codes]
    elif kind == _STRING:
        text = _bytes(buffers["data"][0], name)
        ends = _numbers(buffers["offsets"], start, size + 1, name)
        values = [text[a:b].decode("utf-8") for a, b in zip(ends, ends[1:])]
        codes = values
    else:
        codes = _numbers(buffers["data"], start, size, name)
        values = [bool(v) for v in codes] if kind == _BOOL else codes
    how, mark = column.describe_null
    how, mask = int(how), buffers.get("validity")
    if how == _SENTINEL:
        values = [None if c == mark else v for c, v in zip(codes, values)]
    elif how in (_BITS, _BYTES) and mask is not None:
        if how == _BITS:
            missing = _bits(_bytes(mask[0], name), start, size)
        else:
            missing = list(_bytes(mask[0], name)[start : start + size])
        values = [None if m == mark else v for m, v in zip(missing, values)]
    elif how not in (_NOT_NULLABLE, _NAN, _BITS, _BYTES):
        raise TypeError(f"column {name!r}: missing values of kind {how} are not known")
    return values


def _numbers(buffer: Tuple[Any, Any], start: int, size: int, name: str) -> List[Any]:
    data, (kind, bits, _, order) = buffer
    if order == (">" if sys.byteorder == "little" else "<"):
        raise TypeError(f"column {name!r}: its bytes are in the other order")
    if (int(kind), bits) == (_BOOL, 1):
        return _bits(_bytes(data, name), start, size)
    form = _FORMATS.get((int(kind), bits))
    if form is None:
        raise TypeError(f"column {name!r} has the type {kind} of {bits} bits, but it must be of numbers, text or truth values")
    raw = _bytes(data, name)[start * bits // 8 : (start + size) * bits // 8]
    return list(memoryview(raw).cast(form))


def _bits(data: bytes, start: int, size: int) -> List[int]:
    return [data[i // 8] >> (i % 8) & 1 for i in range(start, start + size)]


def _bytes(buffer: Any, name: str) -> bytes:
    """A copy of a buffer, so that nothing points into it afterwards."""
    if int(buffer.__dlpack_device__()[0]) != _CPU:
        raise TypeError(f"column {name!r} is not in the memory of the processor")
    return ctypes.string_at(buffer.ptr, buffer.bufsize) if buffer.bufsize else b""
