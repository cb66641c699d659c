"""Pictures of results: curves or bars as SVG that needs no library, or on axes of matplotlib where that is imported."""

from __future__ import annotations

import math
import os
import sys
import unicodedata
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

# Okabe and Ito's colours that stand out from white and from black alike; text has the colour of its surroundings.
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_GREY = "#888888"
# A file of its own follows the reader's dark mode; in a notebook a picture has the notebook's colours.
_STYLE = "<style>svg{color:#222;background:#fff}@media (prefers-color-scheme:dark){svg{color:#e8e8e8;background:#14171c}}</style>"

_WIDTH, _HEIGHT = 640, 320
_TOP, _BOTTOM, _LEFT = 34, 46, 58
_LETTER = 6.6  # the width of most letters of 12 points, at most
_LINE = 16


@dataclass(frozen=True)
class Curve:
    """A named line through points. Those with ``aside`` are to compare with: dashed, grey."""

    name: str
    points: Sequence[Tuple[float, float]]
    aside: bool = False


@dataclass(frozen=True)
class Bar:
    """A named value with its interval, where it has one."""

    name: str
    value: float
    interval: Optional[Sequence[float]] = None
    aside: bool = False


@dataclass(frozen=True)
class Picture:
    """What ``plot`` draws without matplotlib: a notebook shows it, and ``save`` writes an SVG file.

    Attributes:
        title: what is drawn.
        x, y: what the axes are. Bars lie along x.
        marks: curves, or bars; not both.
        low, high: the least range of the values.
        note: a sentence below.

    >>> import darrm
    >>> picture = darrm.solve(K=11, m=3).plot()
    >>> picture.title
    '11 teachers, one label (0.3, 2.99998e-05)-DP'
    >>> picture.svg.startswith("<svg")
    True
    """

    title: str
    x: str
    y: str
    marks: Sequence[Union[Curve, Bar]]
    low: float = 0.0
    high: float = 1.0
    note: str = ""

    @property
    def svg(self) -> str:
        """The picture as an SVG element."""
        return _svg(self)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write an SVG file."""
        Path(path).write_text(self.svg.replace(">", f">{_STYLE}", 1) + "\n", encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<darrm.Picture: {self.title}>"

    def draw(self, ax: Any = None) -> Any:
        """Draw on matplotlib's axes ``ax``, which are returned. Without them, on new ones where matplotlib.pyplot is
        imported, else this picture is returned."""
        if ax is None:
            if "matplotlib.pyplot" not in sys.modules:
                return self
            ax = sys.modules["matplotlib.pyplot"].subplots()[1]
        bars = [m for m in self.marks if isinstance(m, Bar)]
        for colour, mark in zip(_colours(self.marks), self.marks):
            if isinstance(mark, Curve):
                xs, ys = zip(*mark.points) if mark.points else ((), ())
                ax.plot(xs, ys, color=colour, label=mark.name, linestyle="--" if mark.aside else "-", marker="" if mark.aside else "o")
        if bars:
            places = list(range(len(bars)))
            ax.barh(places, [b.value for b in bars], color=_colours(self.marks))
            for at, b in zip(places, bars):
                if b.interval is not None:
                    ax.plot(list(b.interval), [at, at], color="black", linewidth=1)
            ax.set_yticks(places, [b.name.replace("$", r"\$") for b in bars])  # a class may be called $x$
            ax.invert_yaxis()
            ax.set_xlim(*_range(self))
        else:
            ax.set_ylim(*_range(self))
            if _logarithmic(self):
                ax.set_xscale("log")
            ax.legend()
        ax.set(title=self.title, xlabel=self.x, ylabel=self.y)
        return ax


def _colours(marks: Sequence[Union[Curve, Bar]]) -> List[str]:
    """Bars have one colour, curves one each; what is aside is grey."""
    out, used = [], 0
    for mark in marks:
        out.append(_GREY if mark.aside else _COLOURS[used % len(_COLOURS)])
        used += isinstance(mark, Curve) and not mark.aside
    return out


def _range(p: Picture) -> Tuple[float, float]:
    """The range of the values, which has some length."""
    values = [p.low, p.high]
    for m in p.marks:
        values += [y for _, y in m.points] if isinstance(m, Curve) else [m.value, *(m.interval or ())]
    return min(values), max(max(values), min(values) + 1e-9)


def _logarithmic(p: Picture) -> bool:
    """Whether the curves' x wants a logarithmic axis."""
    xs = [x for m in p.marks if isinstance(m, Curve) for x, _ in m.points]
    return bool(xs) and min(xs) > 0 and max(xs) > 50 * min(xs)


def ticks(low: float, high: float, most: int = 6) -> List[float]:
    """Round numbers from low to high, at most so many.

    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(0, 11, 8)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    if high <= low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(power * n for n in (1, 2, 5, 10, 20) if (high - low) / (power * n) < most)
    return [round(i * step, 12) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> List[float]:
    """Places in [low, high] near the wanted ones, in their order, gap apart where there is room.

    >>> apart([10, 11, 50], 4, 0, 52)
    [10, 14, 50]
    >>> apart([51, 52], 4, 0, 52)
    [48, 52]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    out = [0.0] * len(wanted)
    at = low - gap
    for i in order:
        at = out[i] = max(wanted[i], at + gap)
    at = high + gap
    for i in reversed(order):
        at = out[i] = min(out[i], at - gap)
    return out


def _width(text: str) -> float:
    """About how wide a text of 12 points is."""
    wide = 0.0
    for c in text:
        if unicodedata.east_asian_width(c) in "WF":
            wide += 13.5
        elif c.isupper() or c in "mw@%&":
            wide += 10.5
        elif not unicodedata.combining(c):
            wide += _LETTER if c.isascii() else 7.4
    return wide


def _cut(text: str, room: float) -> str:
    """The text, or as much of its beginning as there is room for, and an ellipsis.

    >>> _cut("gnmax", 60), _cut("always a very long name", 60), _cut("漢字" * 9, 60)
    ('gnmax', 'always…', '漢字漢…')
    """
    if _width(text) <= room:
        return text
    while text and _width(text + "…") > room:
        text = text[:-1]
    return text.rstrip() + "…"


class _Page:
    """Elements of an SVG picture, one after the other."""

    def __init__(self) -> None:
        self.elements: List[str] = []

    def text(self, x: float, y: float, what: str, anchor: str = "start", more: str = "") -> None:
        self.elements.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(what)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, more: str) -> None:
        self.elements.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>')


def _svg(p: Picture) -> str:
    bars = [m for m in p.marks if isinstance(m, Bar)]
    names = [m.name for m in p.marks]
    side = min(260.0, 14 + max(map(_width, names), default=0))
    height = _TOP + _BOTTOM + 26 * len(bars) if bars else _HEIGHT
    page = _Page()
    page.text(8, 18, p.title, more=' font-weight="bold"')
    if bars:
        _bars(page, p, bars, side, _WIDTH - 60, height - _BOTTOM)
    else:
        _curves(page, p, [m for m in p.marks if isinstance(m, Curve) and m.points], _LEFT, _WIDTH - side, height - _BOTTOM)
    style = f'style="width:100%;max-width:{_WIDTH}px" font-family="system-ui,sans-serif" font-size="12" fill="currentColor"'
    said = f"{p.title}: {', '.join(names)}"
    note = f"<desc>{escape(p.note)}</desc>" if p.note else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {style} role="img" '
        f'aria-label="{escape(said)}">{note}{"".join(page.elements)}</svg>'
    )


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """Where a value of [low, high] is between start and end."""
    return lambda v: start + (end - start) * (v - low) / ((high - low) or 1)


_FAINT, _INK = 'stroke="currentColor" stroke-opacity="0.15"', 'stroke="currentColor"'


def _bars(page: _Page, p: Picture, bars: Sequence[Bar], left: float, right: float, bottom: float) -> None:
    """A bar below the other, each with its name, its value and its interval."""
    low, high = _range(p)
    across = _scale(low, high, left, right)
    page.text((left + right) / 2, bottom + 38, p.x, "middle")
    for t in ticks(low, high):
        page.line(across(t), _TOP, across(t), bottom, _FAINT)
        page.text(across(t), bottom + 16, f"{t:g}", "middle")
    for i, (colour, bar) in enumerate(zip(_colours(bars), bars)):
        top, start = _TOP + 26 * i + 4, across(max(low, 0.0))
        page.elements.append(f'<rect x="{start:.1f}" y="{top}" width="{max(0.0, across(bar.value) - start):.1f}" height="18" fill="{colour}"/>')
        page.text(left - 8, top + 13, _cut(bar.name, left - 14), "end")
        ends = bar.interval or [bar.value]
        if bar.interval:
            page.line(across(ends[0]), top + 9, across(ends[-1]), top + 9, _INK + ' stroke-width="1.5"')
        page.text(across(max(bar.value, *ends)) + 6, top + 13, f"{bar.value:.2f}")


def _curves(page: _Page, p: Picture, curves: Sequence[Curve], left: float, right: float, bottom: float) -> None:
    """Axes and curves, each with its name at its end."""
    if not curves:
        return
    xs = [x for c in curves for x, _ in c.points]
    logarithmic, (low, high) = _logarithmic(p), _range(p)
    first, last = (math.log10(min(xs)), math.log10(max(xs))) if logarithmic else (min(xs), max(xs))
    place, up = _scale(first, last, left, right - 8), _scale(low, high, bottom, _TOP)

    def across(x: float) -> float:
        return place(math.log10(x) if logarithmic else x)

    for t in ticks(low, high):
        page.line(left, up(t), right, up(t), _FAINT)
        page.text(left - 6, up(t) + 4, f"{t:g}", "end")
    if logarithmic:
        at = [10.0**n for n in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]
    else:
        whole = all(float(x).is_integer() for x in xs)
        at = [t for t in ticks(first, last, 9) if not whole or t.is_integer()]  # no half votes
    for t in at:
        page.line(across(t), bottom, across(t), bottom + 4, _INK)
        page.text(across(t), bottom + 17, f"{t:g}", "middle")
    page.line(left, bottom, right, bottom, _INK)
    page.text((left + right) / 2, bottom + 38, p.x, "middle")
    middle = (_TOP + bottom) / 2
    page.text(14, middle, p.y, "middle", f' transform="rotate(-90 14 {middle:.1f})"')
    names = apart([up(c.points[-1][1]) for c in curves], _LINE, _TOP, bottom)
    for colour, curve, name in zip(_colours(curves), curves, names):
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in curve.points)
        dash = ' stroke-dasharray="5 4"' if curve.aside else ""
        page.elements.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        if not curve.aside and len(curve.points) <= 60:
            page.elements += [
                f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3.5" fill="{colour}"><title>{x:g}: {y:.4g}</title></circle>'
                for x, y in curve.points
            ]
        x, y = curve.points[-1]
        page.line(across(x), up(y), right + 4, name, f'stroke="{colour}"')
        page.text(right + 8, name + 4, curve.name)


Picture.__module__ = "darrm"  # where users find it
