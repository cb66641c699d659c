"""One budget for an estimator and all its clones."""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

from ._program import BudgetError

_Path = Union[str, "os.PathLike[str]"]
_T = TypeVar("_T")


class Budget:
    """What an estimator and its clones may release: one result, or with a ledger what the ledger pays for.

    scikit-learn clones an estimator for every fold and every point of a grid, and copies its parameters. A copy of a
    budget is the budget itself, so that clones share it: the first request is released, the same request has the same
    result again, and any other is refused, or charged to ``ledger=``. A budget that came from another process, by
    pickling or forking, releases with a ledger only.

    >>> import copy, darrm
    >>> budget = darrm.Budget()
    >>> copy.deepcopy(budget) is budget
    True
    """

    def __init__(self) -> None:
        self._lock, self._process, self._sole = threading.Lock(), os.getpid(), True
        self._kept: Dict[bytes, Any] = {}  # by a digest of the request, which never leaves the process
        self._paid: List[Optional[str]] = []  # the ledger of each release, None for none
        self.last: Any = None  # the result that was given last

    def release(
        self, request: Sequence[Any], ledger: Optional[_Path], request_id: Optional[str], make: Callable[[Dict[str, Any]], _T]
    ) -> _T:
        """The kept result of a request, or a new one.

        Args:
            request: everything that the result is made of, in pieces of bytes.
            ledger: what pays; ``None`` for the budget's one release.
            request_id: the release's name in the ledger; a later one has a number added, one of another
                process a random word, and ``None`` has a random one.
            make: makes the result, given the keywords of the ledger.
        """
        digest = hashlib.sha256()
        for piece in request:
            digest.update(piece)
        key = digest.digest()
        with self._lock:
            if key in self._kept:
                self.last = self._kept[key]
                kept: _T = self.last
                return kept
            path = None if ledger is None else os.fspath(ledger)
            self._check(path)
            names: Dict[str, Any] = {}
            if path is not None:
                number = "" if not self._paid else f"-{len(self._paid) + 1}"
                if not self._sole or self._process != os.getpid():  # another process counts too
                    number = f"-{secrets.token_hex(4)}"
                names = {"ledger": path, "request_id": f"{request_id or 'python-' + secrets.token_hex(8)}{number}"}
            result = make(names)
            self._paid.append(path)
            self._kept[key] = self.last = result
            return result

    def _check(self, ledger: Optional[str]) -> None:
        """Refuse what nobody would add up."""
        if ledger is None and (not self._sole or self._process != os.getpid()):
            raise _refused("a budget from another process cannot know what was released there")
        if ledger is None and self._paid:
            raise _refused("this budget has paid for its one release, and these are other votes, records or parameters")
        if any(paid != ledger for paid in self._paid):
            raise _refused("this budget has paid for a release that is not in this ledger")

    def __deepcopy__(self, memo: Any) -> "Budget":
        return self

    def __copy__(self) -> "Budget":
        return self

    def __reduce__(self) -> Tuple[Callable[..., "Budget"], Tuple[List[Optional[str]]]]:
        # Without what was kept: a digest of private records would tell of them.
        return _arrived, (list(self._paid),)


def _arrived(paid: List[Optional[str]]) -> Budget:
    budget = Budget()
    budget._sole, budget._paid = False, paid
    return budget


def _refused(message: str) -> BudgetError:
    return BudgetError(
        message, "budget", 7, "give ledger=, which adds up what is released; a new estimator's cost adds to this one's"
    )


class NotPrivate(float):
    """A figure computed from the records themselves: for whoever may see them.

    >>> import darrm
    >>> score = darrm.NotPrivate(0.75)
    >>> score, score > 0.7
    (0.75 (not private), True)
    """

    private = False

    def __repr__(self) -> str:
        return f"{float(self)!r} (not private)"


for _kind in (Budget, NotPrivate):
    _kind.__module__ = "darrm"  # where users find it
