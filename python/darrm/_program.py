"""Calling the program: where it is, what it is told, and what its failures become."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

#: What a call may report while it works: one dict for each step.
Progress = Callable[[Dict[str, Any]], None]


class DarrmError(Exception):
    """A failure of the program.

    Attributes:
        kind: the program's word for it, such as ``"usage"``.
        exit_code: the program's exit code.
        hint: what to do about it, or ``None``.
    """

    def __init__(self, message: str, kind: str = "failure", exit_code: int = 1, hint: Optional[str] = None):
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.kind, self.exit_code, self.hint = kind, exit_code, hint


class Failure(DarrmError):
    """A failure that none of the others describes."""


class UsageError(DarrmError, ValueError):
    """A parameter is wrong."""


class InputError(DarrmError, ValueError):
    """Votes, records or a file are missing, unreadable or malformed."""


class UncertifiedError(DarrmError):
    """A guarantee could not be certified; nothing was released."""


class SolverError(DarrmError):
    """The linear program was not solved: no solver, too large, or out of time."""


class OutputError(DarrmError):
    """A file could not be written."""


class BudgetError(DarrmError):
    """The ledger refused: the budget does not allow it, or it was charged before."""


class LedgerError(DarrmError):
    """The ledger is damaged, was rolled back or could not be written."""


class Interrupted(DarrmError):
    """The program was interrupted. Nothing was released."""


_KINDS = {
    "failure": Failure, "usage": UsageError, "input": InputError, "uncertified": UncertifiedError, "solver": SolverError,
    "output": OutputError, "budget": BudgetError, "ledger": LedgerError, "interrupted": Interrupted,
}

for _kind in (DarrmError, *_KINDS.values()):
    _kind.__module__ = "darrm"  # where users find it


def program() -> str:
    """The path of the program: ``$DARRM``, the one in this package, or the one in ``$PATH``."""
    stated = os.environ.get("DARRM")
    if stated:
        return stated
    own = Path(__file__).with_name("bin") / ("darrm.exe" if os.name == "nt" else "darrm")
    if own.is_file():
        return str(own)
    found = shutil.which("darrm")
    if found is None:
        raise Failure("the program darrm is neither in this package nor in $PATH; name it in $DARRM")
    return found


#: Options whose lists are a flag for each value.
_REPEATED = ("classes", "same", "table")


def flags(options: Dict[str, Any]) -> "list[str]":
    """The program's flags for keywords: ``label_eps=0.5`` is ``--label-eps=0.5``.

    >>> flags({"classes": ["Toys, Games", "Books"], "same": ["Books=books"]})
    ['--class=Toys, Games', '--class=Books', '--same=Books=books']

    Shares and costs are dicts by class, or lists in the order of the classes:

    >>> flags({"shares": {"no": 0.9, "yes": 0.1}, "cost": {("no", "yes"): 9}})
    ['--shares=no=0.9,yes=0.1', '--cost=no:yes=9']
    >>> flags({"classes": ["no", "yes"], "shares": [0.9, 0.1], "cost": [[0, 9], [1, 0]]})
    ['--class=no', '--class=yes', '--shares=0.9,0.1', '--cost=no:yes=9,yes:no=1']
    """
    out: "list[str]" = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if name in _REPEATED and not isinstance(value, str) and hasattr(value, "__iter__"):  # a comma may be part of each
            out += [f"{'--class' if name == 'classes' else flag}={_text(name, v)}" for v in value]
            continue
        if name in ("shares", "cost") and isinstance(value, Mapping):
            value = [f"{_pair(key)}={_text(name, x)}" for key, x in value.items()]
        elif name == "cost" and not isinstance(value, str):
            value = _costs(value, options.get("classes"))
        if value is True:
            out.append(flag)
        elif isinstance(value, (list, tuple, range)) or getattr(value, "ndim", 0) == 1:
            out.append(flag + "=" + ",".join(_text(name, v) for v in value))
        else:
            out.append(f"{flag}={_text(name, value)}")
    return out


def _pair(key: Any) -> str:
    """A class, or the answered one and that with the most votes."""
    return ":".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _costs(rows: Any, classes: Any) -> "list[str]":
    """What each answer costs, from a row for each answer with a number for each class."""
    rows = [list(row) for row in rows]
    if any(len(row) != len(rows) for row in rows):
        raise TypeError(f"cost has {len(rows)} rows: each must have as many numbers, one for each class")
    if any(row[a] != 0 for a, row in enumerate(rows)):
        raise TypeError("cost[a][a] must be 0: an answer with the most votes costs nothing")
    if isinstance(classes, str):
        classes = classes.split(",")
    names = [str(c) for c in classes] if classes is not None else [str(c) for c in range(len(rows))]
    if len(names) != len(rows):
        raise TypeError(f"cost has {len(rows)} rows, but there are {len(names)} classes")
    return [
        f"{names[a]}:{names[b]}={_text('cost', x)}" for a, row in enumerate(rows) for b, x in enumerate(row) if a != b
    ]


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if hasattr(value, "__float__"):
        return _number(value)
    raise TypeError(f"{name} = {value!r}: not a number, text, list or truth value")


def _number(value: Any) -> str:
    """The shortest decimal of a number: what is written is what is promised."""
    if isinstance(value, int) or (hasattr(value, "__index__") and not isinstance(value, float)):
        return str(int(value))
    return repr(float(value))


def run(*arguments: str, stdin: Union[bytes, Sequence[Any], None] = None, progress: Optional[Progress] = None) -> str:
    """Run the program and return what it prints.

    Args:
        arguments: the command line, such as ``"solve", "--K", "11", "--m", "3"``.
        stdin: what it reads, if anything: bytes, or pieces of them.
        progress: called with a dict for each step that the program reports.

    >>> import darrm
    >>> darrm.run("version").split()[0]
    'darrm'

    Raises:
        DarrmError: the subclass that the program's failure is.
    """
    command = [program(), *map(str, arguments)]
    if progress is not None:
        command.append("--progress=json")
    said: "list[str]" = []
    out: "list[bytes]" = []
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    try:
        p = subprocess.Popen(command, stdin=nothing if stdin is None else pipe, stdout=pipe, stderr=pipe)
    except OSError as e:
        raise Failure(f"the program cannot be started: {e}", hint="name the program darrm in $DARRM") from e
    with p:
        # Progress is called here, in the caller's thread; the other two pipes have threads.
        threads = [threading.Thread(target=_collect, args=(p.stdout, out), daemon=True)]
        if stdin is not None:
            threads.append(threading.Thread(target=_feed, args=(p.stdin, stdin), daemon=True))
        try:
            for t in threads:
                t.start()
            assert p.stderr is not None
            for line in p.stderr:
                text = line.decode("utf-8", "replace")
                if progress is not None and text.startswith('{"progress"'):
                    progress(json.loads(text)["progress"])
                else:
                    said.append(text)
            for t in threads:
                t.join()
            p.wait()
        except BaseException:
            p.terminate()  # the program stops within a second and leaves no half-written file
            if p.stderr is not None:
                p.stderr.read()  # its last words may be more than a pipe holds
            p.wait()
            for t in threads:
                t.join()
            raise
    if p.returncode != 0:
        raise _error(said, p.returncode)
    return b"".join(out).decode("utf-8")


def _collect(pipe: Any, into: "list[bytes]") -> None:
    into.append(pipe.read())


def _feed(pipe: Any, data: Any) -> None:
    try:
        for piece in [data] if isinstance(data, bytes) else data:
            pipe.write(piece)
        pipe.close()
    except BrokenPipeError:
        pass  # the program ended first, and says why


def _error(said: "list[str]", code: int) -> DarrmError:
    for line in reversed(said):
        if line.startswith('{"error"'):
            e = json.loads(line)
            # A flag of the program is a parameter here, and --class is one of classes.
            error = re.sub(r"^unknown flag: --([a-z][a-z-]*)$", lambda m: "unknown parameter: " + (
                "classes" if m[1] == "class" else m[1].replace("-", "_")), e["error"])
            return _KINDS.get(e["kind"], Failure)(error, e["kind"], e["exit_code"], e.get("hint"))
    return Failure("".join(said).strip() or f"the program ended with {code}", exit_code=code)
