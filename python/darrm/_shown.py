"""What of a result is drawn, and how a notebook shows it."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from html import escape
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._pictures import Bar, Curve, Picture

_MOST_ROWS = 60  # that a notebook shows
_ONE = 2**53  # masses of tables of many classes are of 2⁵³

#: Below a picture of γ that falls and rises: docs/concepts.md says more.
DIPS = (
    "γ dips where a coin hides most for the error that it makes: what must be small for privacy are sums of γ over all "
    "numbers of votes, not each value."
)


def cost(value: Any) -> str:
    """An ε or a δ of at most six digits, rounded up: what is shown may not be less than what is spent.

    >>> cost(0.1), cost(1.00000001), cost("inf"), cost(None)
    ('0.1', '1.00001', 'inf', '–')
    """
    if value is None:
        return "–"
    number = Decimal(str(value))
    if not number.is_finite():
        return str(value)
    return f"{float(Context(prec=6, rounding=ROUND_CEILING).plus(number)):.6g}"


def count(n: int, one: str, many: str = "") -> str:
    """So many of them.

    >>> count(1, "query", "queries"), count(2, "query", "queries"), count(2, "label")
    ('1 query', '2 queries', '2 labels')
    """
    return f"{n} {one if n == 1 else many or one + 's'}"


def pair(both: Dict[str, Any]) -> str:
    """(ε, δ) of a promise."""
    return f"({cost(both['epsilon'])}, {cost(both['delta'])})"


def total(data: Dict[str, Any]) -> str:
    """(ε, δ) of what a table promises."""
    epsilon = data.get("total_epsilon")
    if epsilon is None:
        epsilon = Decimal(str(data["m"])) * Decimal(str(data["epsilon"]))
    return pair({"epsilon": epsilon, "delta": data["delta"]})


def table(gamma: Sequence[float], error: float, data: Dict[str, Any]) -> Picture:
    """A table's noise function, or how often its labels are right."""
    k = data["k"]
    if gamma:
        title = f"{count(k, 'teacher')}, one label {total(data)}-DP"
        if data.get("shape") == "by-name":
            signs = [-1 if 2 * l < k else 1 for l in range(k + 1)]
            points = [(float(l), (1 + s * g) / 2) for l, (s, g) in enumerate(zip(signs, gamma))]
            return Picture(title, "votes for 1", "probability of label 1", [Curve(f"error {error:.4g}", points)])
        points = [(float(l), g) for l, g in enumerate(gamma) if 2 * l != k]  # a tie is a coin, whatever γ
        half = [g for l, g in enumerate(gamma) if 2 * l < k]
        note = DIPS if any(b > a + 1e-3 for a, b in zip(half, half[1:])) else ""
        return Picture(title, "l, votes for 1", "γ(l)", [Curve(f"γ, error {error:.4g}", points)], note=note)
    answers = f"{data['answers']} labels {total(data)}-DP together" if data.get("answers") else f"one label {total(data)}-DP"
    title = f"{count(k, 'teacher')}, {data['classes']} classes, {answers}"
    right: Dict[int, List[float]] = {}
    for mass in data["masses"]:
        lead, chance = _right(mass, data)
        right.setdefault(lead, []).append(chance)
    ends: List[Tuple[str, Callable[[List[float]], float]]] = [("right, at least", min), ("right, at most", max)]
    if all(min(r) == max(r) for r in right.values()):
        ends = [("right", max)]
    curves = [Curve(name, [(float(lead), end(right[lead])) for lead in sorted(right)]) for name, end in ends]
    if not data.get("named"):
        curves.append(Curve("a guess", [(float(lead), 1 / data["classes"]) for lead in sorted(right) if lead], aside=True))
    return Picture(title, "lead of the first class, in votes", "probability of a class with the most votes", curves)


def _right(mass: Dict[str, Any], data: Dict[str, Any]) -> Tuple[int, float]:
    """The lead of the first class, and how often the answer has the most votes."""
    votes = mass.get("votes")
    if votes is None:
        return mass["lead"], mass["groups"][0] / _ONE
    most, second = sorted(votes, reverse=True)[:2]
    if data.get("named"):  # each class has its own
        return most - second, sum(g for v, g in zip(votes, mass["groups"]) if v == most) / _ONE
    return most - second, mass["groups"][0] / _ONE  # of all classes that have as many, together


def result(main: str, data: Dict[str, Any], rows: Sequence[Dict[str, Any]]) -> Picture:
    """The main figure of each row of a plan, of a comparison or of a bill."""
    title = heading(main, data)
    if main == "mechanisms":
        bars = [_bar(row["title"], row["score.agreement"], row.get("score.agreement_95")) for row in rows if "score.agreement" in row]
        if data.get("always"):
            always = data["always"]
            bars.append(_bar(f"always {always['class']}", always["agreement"], always.get("agreement_95"), aside=True))
        return Picture(title, "agrees with most votes, %", "", bars, high=100)
    if main == "choices":
        return Picture(title, "expected to agree with most votes, %", "", [_bar(r["title"], r["agreement"]) for r in rows], high=100)
    if main == "sizes":
        points = [(float(r["k"]), 100 * r["agreement"]) for r in rows if r.get("agreement") is not None]
        wanted = data.get("wanted_agreement")
        curves = [Curve("the best", points)]
        if wanted and points:
            curves.append(Curve("wanted", [(points[0][0], 100 * wanted), (points[-1][0], 100 * wanted)], aside=True))
        return Picture(title, "teachers", "expected agreement, %", curves, high=100)
    if main == "fresh_teachers":
        return Picture(title, "labels", "ε of all labels", [Curve("ε", [(float(r["queries"]), r["epsilon"]) for r in rows])])
    raise TypeError("plot draws tables, plans, comparisons and what labels cost together, and this is none of them")


def _bar(name: str, share: Optional[float], interval: Optional[Sequence[float]] = None, aside: bool = False) -> Bar:
    return Bar(name, 100 * (share or 0), interval and [100 * v for v in interval], aside)


def heading(main: str, data: Dict[str, Any]) -> str:
    """One line of what a result is about; "" for others than those that are drawn."""
    if main == "mechanisms":
        within = f"all {data['answers']} labels" if data.get("answers", 1) > 1 else "each label"
        return f"Not private: {count(data['queries'], 'query', 'queries')}, {count(data['k'], 'teacher')}, {within} {pair(data['target'])}-DP"
    if main in ("choices", "sizes"):
        return f"{count(data['queries'], 'label')} of {data['classes']} classes within {pair(data['budget'])}"
    if main == "fresh_teachers":
        return f"{count(data['k'], 'teacher')}, each label {pair(data['per_answer'])}-DP"
    return ""


def _percent(value: Any) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _plain(value: Any) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _interval(value: Any) -> str:
    return "–" if value is None else f"{100 * value[0]:.1f}–{100 * value[1]:.1f}"


_Column = Tuple[str, str, Callable[[Any], str]]
_COLUMNS: Dict[str, List[_Column]] = {
    "mechanisms": [
        ("mechanism, over its noise", "title", _plain), ("agrees %", "score.agreement", _percent),
        ("95 %", "score.agreement_95", _interval), ("right %", "score.accuracy", _percent), ("worth", "worth", lambda v: "–" if v is None else f"{v:.1f}"),
        ("not applicable", "refused", lambda v: v or ""),
    ],
    "choices": [
        ("mechanism", "title", _plain), ("ε each", "per_label.epsilon", cost), ("δ each", "per_label.delta", cost),
        ("agrees %", "agreement", _percent), ("worth", "worth", lambda v: "–" if v is None else f"{v:.2f}"),
        ("ε all", "all_labels.epsilon", cost), ("δ all", "all_labels.delta", cost),
    ],
    "sizes": [
        ("teachers", "k", _plain), ("mechanism", "title", _plain), ("ε each", "per_label.epsilon", cost),
        ("δ each", "per_label.delta", cost), ("agrees %", "agreement", _percent),
    ],
    "fresh_teachers": [("labels", "queries", _plain), ("ε of all", "epsilon", cost), ("δ of all", "delta", cost)],
}


def html(main: str, data: Dict[str, Any], rows: Sequence[Dict[str, Any]]) -> str:
    """A heading, the picture where there is one, and the rows."""
    columns = _COLUMNS.get(main)
    if columns is None:
        names = [n for n in (rows[0] if rows else {}) if not any(isinstance(r.get(n), (list, dict)) for r in rows)]
        columns = [(name, name, _plain) for name in names]
    columns = [c for c in columns if any(row.get(c[1]) is not None for row in rows)]
    head = "".join(f"<th>{escape(name)}</th>" for name, _, _ in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(said(row.get(key)))}</td>" for _, key, said in columns) + "</tr>" for row in rows[:_MOST_ROWS]
    )
    left = f"<p>{len(rows) - _MOST_ROWS} more rows</p>" if len(rows) > _MOST_ROWS else ""
    title = heading(main, data)
    drawn = result(main, data, rows).svg if main in _COLUMNS and rows else f"<b>{escape(title)}</b>" if title else ""
    return f"<div>{drawn}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left}</div>"


def table_html(gamma: Sequence[float], error: float, gap: Optional[float], data: Dict[str, Any]) -> str:
    """The picture, the error and how far at most it is from the least, and the errors of the baselines."""
    picture = table(gamma, error, data)
    if gap is None and "upper_bound" in data:
        gap = max(0.0, data["upper_bound"] - data["value"])
    rows = [("this table", f"{error:.6g}"), ("above the least error by at most", "not known" if gap is None else cost(gap))]
    others = data.get("baselines") or {}
    if isinstance(others, dict):
        rows += [(name.replace("_", "-"), f"{value:.6g}") for name, value in sorted(others.items()) if value is not None]
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows)
    note = f"<p>{escape(picture.note)}</p>" if picture.note else ""
    return f"<div>{picture.svg}{note}<table><thead><tr><th></th><th>error</th></tr></thead><tbody>{body}</tbody></table></div>"
