"""What the program says of records, in the words of whoever calls it from Python."""

from __future__ import annotations

import re
from typing import Callable, Optional, TypeVar

from ._program import DarrmError

_T = TypeVar("_T")

#: Flags whose parameters have other names. Any other is the flag's with _ for -.
_PARAMETERS = {"eps": "epsilon", "score-eps": "score_epsilon", "all-but": "columns", "response": "y", "intercept": "fit_intercept", "class": "classes", "weights": "sample_weight", "class-weights": "class_weight"}


def reworded(call: Callable[[], _T], first_line: Optional[int] = None) -> _T:
    """The result of a call, or its error: flags are parameters, and lines of standard input are rows of X, from 0.

    first_line is the line of the first row, None where rows may take several lines.
    """
    try:
        return call()
    except DarrmError as e:
        message, hint = str(e), e.hint
        if hint is not None:
            message = message[: -len(f"\nhint: {hint}")]
            hint = _words(hint)
        error = type(e)(_rows(_words(message), first_line), e.kind, e.exit_code, hint)
    raise error


def _words(text: str) -> str:
    text = re.sub(r"; of all of them at once, --scale '.*=LOW:HIGH'", "; scale=(LOW, HIGH) is the range of all columns without categories", text, flags=re.S)
    text = re.sub(r" \(see [a-z ]+ --help\)", "", text)
    return re.sub(r"--([a-z][a-z-]*)", lambda m: _PARAMETERS.get(m.group(1), m.group(1).replace("-", "_")), text)


def _rows(text: str, first_line: Optional[int]) -> str:
    text = re.sub(r"^-: record (\d+)", lambda m: f"row {int(m.group(1)) - 1} of X", text)
    if first_line is not None:
        first = first_line
        text = re.sub(r"^-: line (\d+)", lambda m: f"row {int(m.group(1)) - first} of X", text)
    return re.sub(r"^-: ", "X: ", text).replace('"+Inf"', "inf").replace('"-Inf"', "-inf")
