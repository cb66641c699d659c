"""Predictions of a model's file by NumPy, equal to the program's to the last digit (docs/formats.md has the order of operations)."""

from __future__ import annotations

import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional, Sequence, Tuple

#: What Go's strings.TrimSpace takes away.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_MISSING = {"", "?", "na", "n/a", "nan", "-nan", "nat", "null", "none", "<na>", "#n/a", "#na"}
_BLOCK = 4096  # rows whose columns stay in a processor's cache
_LARGEST = 1e50


class Elsewhere(Exception):
    """What NumPy does not work out here, and the program does: other models, and cells that are refused."""


def predict(model: Dict[str, Any], names: Sequence[str], cells: Any) -> Dict[str, Any]:
    """What ``darrm predict --json`` says of rows: predictions, scores, probabilities, class_scores, class_probabilities.

    cells is a matrix of float64 with NaN for missing cells, or rows of numbers and text.

    Raises:
        Elsewhere: the program has to be asked.
    """
    np = sys.modules.get("numpy")
    link = model.get("link")
    weights = model.get("model")
    if np is None or link not in ("identity", "square", "sign", "logit", "softmax", "rank") or weights is None:
        raise Elsewhere("no linear model of records, or no NumPy")
    columns = (model.get("preparation") or {}).get("features") or [{"name": name} for name in model.get("columns") or []]
    if not columns or model.get("radius_norm", "") not in ("", "inf", "1") or model["task"].startswith("network"):
        raise Elsewhere("its columns have no names, or its norm is another")
    classes = model.get("classes")
    W = np.asarray(weights, dtype=np.float64).reshape(len(classes) if classes else 1, -1)
    at = []
    for c in columns:
        if c["name"] not in names:
            raise Elsewhere("a column is missing")
        at.append(list(names).index(c["name"]))
    radius = model.get("radius", 0.0)
    if radius and not 1e-100 <= radius <= 1e100:
        raise Elsewhere("the radius is out of range")
    z = _all_scores(np, columns, at, W, model["intercept"], radius, model.get("radius_norm", ""), cells)
    with np.errstate(all="ignore"):
        return _said(np, model, link, classes, z)


def labels(model: Dict[str, Any], names: Sequence[str], cells: Any) -> Any:
    """The predictions of ``predict`` where they are classes, mostly from a product of matrices; None where that cannot tell.

    The product has another rounding than the program. So rows whose score, or whose lead over the second class, is within the
    rounding of both are asked of ``predict``, and the answer is the program's for every row.
    """
    np = sys.modules.get("numpy")
    columns: List[Dict[str, Any]] = (model.get("preparation") or {}).get("features") or []
    plain = columns and all(c.get("scale") and not (c.get("center") or c.get("categories") or c.get("fill")) for c in columns)
    if np is None or not plain or not isinstance(cells, np.ndarray) or [c["name"] for c in columns] != list(names):
        return None
    if model.get("link") not in ("sign", "logit", "softmax") or model.get("radius_norm", "") or model["task"].startswith("network"):
        return None
    low, high = np.array([c["scale"] for c in columns]).T
    slope = 2 / (high - low)
    shift = -(low + high) / (high - low)
    weights = np.asarray(model["model"], dtype=np.float64).reshape(len(model.get("classes") or [""]), -1)
    W, b = weights, np.zeros(len(weights))
    if model["intercept"]:
        W, b = weights[:, :-1], weights[:, -1]
    radius, d = model.get("radius", 0.0), len(columns)
    if W.shape[1] != d or d > 100_000 or radius and not 1e-100 <= radius <= 1e100 or not (np.isfinite(slope).all() and np.isfinite(weights).all()):
        return None
    # Of a mapped number, of a sum of d, and of the factor, many times over.
    unsure = 1e-9 * (np.abs(W).sum(axis=1).max() + np.abs(b).max()) + 1e-13 * (np.abs(W) @ (slope * np.maximum(np.abs(low), np.abs(high)) + 1)).max()
    out = np.empty(len(cells), dtype=np.int64)
    left = np.zeros(len(cells), dtype=bool)
    size = max(1, 2**17 // d)  # numbers of a block stay in a processor's cache
    room = np.empty((size, d))
    for start in range(0, len(cells), size):
        x = cells[start : start + size]
        u = room[: len(x)]
        np.multiply(x, slope, out=u)
        u += shift
        least, most = u.min(), u.max()
        if not math.isfinite(least + most):  # a cell is blank or infinite
            return None
        if least < -1 or most > 1:
            np.maximum(u, -1, out=u)
            np.minimum(u, 1, out=u)
        z = u @ W.T if len(W) > 1 else np.einsum("ij,j->i", u, W[0])[:, None]  # which needs no threads
        if radius:
            length = np.sqrt(np.einsum("ij,ij->i", u, u))
            z *= np.minimum(1, radius / np.maximum(length, 1e-300))[:, None]
        z += b
        at = slice(start, start + len(x))
        if len(W) == 1:
            out[at] = z[:, 0] > 0
            left[at] = np.abs(z[:, 0]) <= unsure
        else:
            out[at] = z.argmax(axis=1)
            top = np.partition(z, -2, axis=1)
            left[at] = top[:, -1] - top[:, -2] <= 2 * unsure
    if left.any():
        out[left] = predict(model, names, cells[left])["predictions"]
    return out


def _said(np: Any, model: Dict[str, Any], link: str, classes: Optional[List[str]], z: Any) -> Dict[str, Any]:
    if classes:
        said = {"predictions": np.argmax(z, axis=0), "class_scores": z.T}
        chances = _chances(np, link, z)
        if chances is not None:
            said["class_probabilities"] = chances.T
        return said
    z = z[0]
    if link in ("sign", "logit"):
        said = {"predictions": (z > 0).astype(np.int64), "scores": z}
        if link == "logit":
            said["probabilities"] = 1 / (1 + exp(np, -z))
        return said
    u = z * z if link == "square" else z
    scale = ((model.get("preparation") or {}).get("response") or {}).get("scale")
    if scale is not None:
        u = scale[0] + (u + 1) / 2 * (scale[1] - scale[0])
    return {"predictions": u}


def _chances(np: Any, link: str, z: Any) -> Any:
    if link not in ("softmax", "logit"):
        return None
    out = exp(np, z - z.max(axis=0)) if link == "softmax" else 1 / (1 + exp(np, -z))
    total = np.zeros(z.shape[1])
    for row in out:
        total += row
    return np.where(total == 0, 1 / len(z), out / total)


def exp(np: Any, x: Any) -> Any:
    """e^x as the program works it out."""
    small = x < -740
    x = np.where(small, 0.0, np.minimum(x, 709.0))
    k = np.trunc(1.44269504088896338700 * x + np.copysign(0.5, x))
    hi, lo = x - k * 6.93147180369123816490e-01, k * 1.90821492927058770002e-10
    r = hi - lo
    t = r * r
    c = -1.65339022054652515390e-06 + t * 4.13813679705723846039e-08
    c = 6.61375632143793436117e-05 + t * c
    c = -2.77777777770155933842e-03 + t * c
    c = 1.66666666666666657415e-01 + t * c
    c = r - t * c
    y = 1 - ((lo - (r * c) / (2 - c)) - hi)
    return np.where(small, 0.0, np.ldexp(y, k.astype(np.int64)))


def _all_scores(np: Any, columns: Any, at: Any, W: Any, intercept: bool, radius: float, norm: str, cells: Any) -> Any:
    n = len(cells)
    z = np.empty((len(W), n))
    features = sum(_width(c) for c in columns)
    if W.shape[1] != features + bool(intercept):
        raise Elsewhere("it is not linear")

    def block(start: int) -> None:
        end = min(n, start + _BLOCK)
        with np.errstate(all="ignore"):  # which is of a thread
            z[:, start:end] = _scores(np, columns, at, W, features, radius, norm, cells[start:end])

    starts = range(0, n, _BLOCK)
    workers = min(len(starts), os.cpu_count() or 1)
    if workers > 1 and isinstance(cells, np.ndarray):
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(block, starts))
    else:
        for start in starts:
            block(start)
    return z


def _width(c: Dict[str, Any]) -> int:
    return (len(c["categories"]) if "categories" in c else 1) + _own(c)


def _own(c: Dict[str, Any]) -> bool:
    """Whether blank cells have a feature of their own."""
    return bool(c.get("fill") == "missing" and "missing" not in c.get("categories", ()))


def _scores(np: Any, columns: Any, at: Any, W: Any, features: int, radius: float, norm: str, cells: Any) -> Any:
    """The scores of a block of rows: sums from the first feature to the last, one rounding an operation."""
    n = len(cells)
    if isinstance(cells, np.ndarray):
        same = at == list(range(cells.shape[1]))
        table = np.array((cells if same else cells[:, at]).T, order="C")  # a copy, to be written over
        if np.isinf(table.sum()) and np.isinf(table).any():
            raise Elsewhere("a number is infinite")
    else:
        table = [[row[i] for row in cells] for i in at]
    z, length, room = np.zeros((len(W), n)), np.zeros(n), np.empty(n)
    j = 0
    for c, column in zip(columns, table):
        for x in _features(np, c, column):
            for k in range(len(W)):
                np.multiply(x, W[k, j], out=room)
                z[k] += room
            if radius:
                if norm == "inf":
                    np.maximum(length, np.abs(x), out=length)
                elif norm == "1":
                    length += np.abs(x)
                else:
                    np.multiply(x, x, out=room)
                    length += room
            j += 1
    if np.isnan(z).any():
        raise Elsewhere("a cell is blank")
    if radius:
        if norm == "":
            length = np.where(length < 1e-290, 0.0, np.sqrt(length))
        length *= 1 + ((features + 8) * 2.0**-52 + 2.0**-44)
        z *= np.where(length <= radius, 1.0, radius / length * (1 - 2.0**-50))
    if W.shape[1] > features:
        z += W[:, features:]
    return z


def _features(np: Any, c: Dict[str, Any], column: Any) -> List[Any]:
    """The features of a column."""
    if not isinstance(column, np.ndarray):
        column = _cells(np, c, column)
    words, fill, own = c.get("categories"), c.get("fill"), _own(c)
    if words is not None:
        if isinstance(column, np.ndarray):
            texts: Any = None
            blank = np.isnan(column)
            is_word = [_same_number(np, word, column) for word in words]
        else:
            texts, is_word = column
            blank = texts
        if fill is not None and not own:
            is_word[words.index(fill)] = is_word[words.index(fill)] | blank
        return [x.astype(np.float64) for x in is_word] + ([blank.astype(np.float64)] if own else [])
    if fill is None:
        return [_unit(np, c, column)]
    blank = np.isnan(column)
    if own:
        x = _unit(np, c, column)
        x[blank] = 0
        return [x, blank.astype(np.float64)]
    column[blank] = float(fill)
    return [_unit(np, c, column)]


def _unit(np: Any, c: Dict[str, Any], x: Any) -> Any:
    """A number mapped to [-1, 1], in place."""
    if "scale" not in c:
        if (np.abs(x) > _LARGEST).any():
            raise Elsewhere("a number is too large")
        return x
    low, high = c["scale"]
    np.maximum(x, low, out=x)
    np.minimum(x, high, out=x)
    if c.get("center") == "zero":
        x /= max(-low, high)
        return x
    x -= low
    x /= high - low
    x += x
    x -= 1
    return x


def _same_number(np: Any, word: str, column: Any) -> Any:
    """Where numbers are written as the word."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if value - value != 0:  # no finite number, which no cell is
        return np.zeros(len(column), dtype=bool)
    if abs(value) >= 1e15 or value != int(value) or str(int(value)) != word:
        raise Elsewhere("a word is a number with a point")
    return column == value


def _cells(np: Any, c: Dict[str, Any], column: List[Any]) -> Any:
    """A column of cells as numbers, or for words which are blank and which are each word."""
    words = c.get("categories")
    if words is None:
        if any(isinstance(v, str) and v != "" for v in column):
            raise Elsewhere("a number is text")
        x = np.array([math.nan if v == "" else v for v in column], dtype=np.float64)
        if np.isinf(x).any() or any(isinstance(v, int) and abs(v) > 2**53 for v in column):
            raise Elsewhere("a number is infinite or long")
        return x
    texts = [(v if isinstance(v, str) else repr(v) if isinstance(v, float) else str(v)).strip(_SPACE) for v in column]
    known = {word: i for i, word in enumerate(words)}
    codes = np.array([known.get(t, -1) for t in texts])
    blank = np.array([t not in known and t.lower() in _MISSING for t in texts], dtype=bool)
    return blank, [codes == i for i in range(len(words))]
