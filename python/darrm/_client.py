"""Answers one by one, from a server (``darrm serve``)."""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Sequence, Type, Union
from urllib.parse import urlsplit

from ._program import BudgetError, DarrmError, InputError
from ._replay import ReplayKeys


class ServiceError(DarrmError):
    """A server refused, or cannot be reached. Without a subclass of its own: a failure inside it.

    Attributes:
        kind: the server's word for it, such as ``"budget"``.
        status: the HTTP status, 0 where there was no response.
        remaining: what can still be charged to this client, ``{"epsilon": …, "delta": …}``, of a table
            for many answers ``{"answers": …}`` too, or ``None`` where it is not told.
        retry_after: seconds after which the server may be asked again, or ``None``.
        most: of a batch that is too large, the most queries of one that is not, or ``None``.
    """

    def __init__(
        self, message: str, kind: str = "internal", status: int = 0, remaining: Optional[Dict[str, Any]] = None,
        retry_after: Optional[float] = None, most: Optional[int] = None,
    ):
        super().__init__(message, kind)
        self.status, self.remaining, self.retry_after, self.most = status, remaining, retry_after, most


class InvalidRequest(ServiceError, InputError):
    """The request breaks a rule: a wrong number of votes, an unknown class. Nothing was charged."""


class Unauthorized(ServiceError):
    """There is no token, or the server does not know it."""


class Forbidden(ServiceError):
    """The token may not do this."""


class Conflict(ServiceError):
    """The request id was used before, and this is not that request again. Nothing was charged.

    The replay key, the votes, their form, the client or the service is another one: which is not told.
    """


class BudgetExhausted(ServiceError, BudgetError):
    """The budget, or the token's share of it, cannot pay. ``remaining`` says what is left."""


class RateLimited(ServiceError):
    """Too many requests for now, also after all retries."""


class Unavailable(ServiceError):
    """No server answered, or its ledger cannot be written, also after all retries.

    The request may have been charged. Asked again under the same id, with the same replay key, it is charged once.
    """


# By the kinds of the interface (openapi.json).
_KINDS: Dict[str, Type[ServiceError]] = {
    "invalid": InvalidRequest, "not_found": InvalidRequest, "method": InvalidRequest, "too_large": InvalidRequest,
    "media_type": InvalidRequest, "unauthorized": Unauthorized, "forbidden": Forbidden, "conflict": Conflict,
    "budget": BudgetExhausted, "rate": RateLimited, "timeout": Unavailable, "unavailable": Unavailable,
    "internal": ServiceError,
}

for _kind in (ServiceError, *_KINDS.values()):
    _kind.__module__ = "darrm"  # where users find it

Vote = Union[int, str, None]


@dataclass(frozen=True)
class Answer:
    """One private answer.

    Attributes:
        request_id: the request.
        label: the class's name, ``None`` where the mechanism abstained.
        index: the class's index, ``None`` where it abstained.
        replayed: whether the request was charged before; then this is the answer of then.
        receipt: the ledger's entry that paid.
        promise: what the answer promises.
        remaining: what can still be charged to this client, ``None`` where it may not know.
        data: the whole response.
        labels: of a question with several labels 1 or 0, yes or no, for each that was asked, ``None`` where the
            mechanism abstained; ``label`` and ``index`` are then ``None``. ``None`` of others.
    """

    request_id: str
    label: Optional[str]
    index: Optional[int]
    replayed: bool
    receipt: Dict[str, Any] = field(repr=False)
    promise: Dict[str, Any] = field(repr=False)
    remaining: Optional[Dict[str, Any]] = field(repr=False)
    data: Dict[str, Any] = field(repr=False)
    labels: Optional[Dict[str, Optional[int]]] = None

    @property
    def abstained(self) -> bool:
        """Whether the mechanism gave no class, or none for any label."""
        return self.index is None if self.labels is None else all(v is None for v in self.labels.values())


Answer.__module__ = "darrm"


class Client:
    """A client of ``darrm serve``.

    What fails on the way, and what the server puts off, is asked again under the same request
    id, which the server charges once. It gives the answer again to who shows the replay key that
    came with the first request. A client makes the keys from a secret; ``replay_secret`` keeps
    that on disk. So choose an id for each query, and keep ids and secret where a program that is
    started again finds them: without its secret a charged request is never answered again.

    Args:
        address: ``"unix:/run/darrm/serve.sock"`` or ``"https://host:port"``. Plain HTTP is
            refused: it would show votes and token to the network.
        token: the bearer token; the Unix socket needs none.
        ca: a file of certificates that the server's must come from; the system's by default.
        certificate: a file with the client's own certificate, and ``key`` with its key.
        replay_secret: a file with the secret of the replay keys, for its owner only, made where there
            is none. Without it the secret is new, and is lost with the client.
        timeout: seconds that one attempt may take to connect, and between two parts of a response.
        retries: how often a request is asked again.
        backoff: seconds before the second attempt; each further pause is twice as long, up to
            ten seconds, and shorter by chance so that clients do not come together.

    Any number of threads may share a client; each has a connection of its own.

    >>> import darrm
    >>> darrm.Client("http://example.com")
    Traceback (most recent call last):
        ...
    ValueError: address = 'http://example.com', but it must be unix:PATH or https://HOST:PORT
    >>> client = darrm.Client("unix:/no/such/socket", retries=0)
    >>> client.answer("march-1", counts=[3, 8])
    Traceback (most recent call last):
        ...
    darrm.Unavailable: unix:/no/such/socket: ...
    """

    def __init__(
        self, address: str, *, token: Optional[str] = None, ca: Optional[str] = None, certificate: Optional[str] = None,
        key: Optional[str] = None, replay_secret: Union[str, "os.PathLike[str]", None] = None, timeout: float = 30.0, retries: int = 8, backoff: float = 0.1,
    ):
        self.address, self.timeout, self.retries, self.backoff = address, timeout, retries, backoff
        self._path, self._host, self._port = "", "", 0
        self._context: Optional[ssl.SSLContext] = None
        url = urlsplit(address)
        if address.startswith("unix:") and len(address) > len("unix:"):
            self._path = address[len("unix:"):]
            if ca or certificate or key:
                raise ValueError("ca, certificate and key go with https")
        elif url.scheme == "https" and url.hostname and not (url.path.strip("/") or url.query or url.fragment or url.username):
            self._host, self._port = url.hostname, url.port or 443
            self._context = ssl.create_default_context(cafile=ca)
            if certificate:
                self._context.load_cert_chain(certificate, key)
        else:
            raise ValueError(f"address = {address!r}, but it must be unix:PATH or https://HOST:PORT")
        self._headers = {"Accept": "application/json"}
        if token is not None:
            if not token:  # of a variable that was not set
                raise ValueError("the token is empty")
            if not token.isascii() or not token.isprintable() or " " in token:
                raise ValueError("the token has characters that no token has")  # which is not said
            self._headers["Authorization"] = "Bearer " + token
        self._most = _BATCH  # queries of one request, until the server says less
        self._keys = ReplayKeys(replay_secret)
        self._local = threading.local()

    def answer(
        self, request_id: str, votes: Optional[Sequence[Vote]] = None, *, counts: Optional[Sequence[int]] = None,
        sets: Optional[Sequence[Optional[Iterable[Union[int, str]]]]] = None, labels: Optional[Sequence[Union[int, str]]] = None,
        replay_key: Optional[str] = None,
    ) -> Answer:
        """One private answer to the teachers' votes on one query.

        Args:
            request_id: names the query, for ever.
            votes: each teacher's class, by index or name, in the teachers' order.
            counts: how many teachers vote for each class, instead.
            sets: instead, of a question with several labels, the labels that each teacher says yes to, by
                index or name; ``None`` for a vote that is missing.
            labels: those that are answered, by default all. The question is charged the same.
            replay_key: at least 128 random bits as 32 to 64 of the digits 0-9 and a-f, where you
                keep keys yourself; by default one from the client's secret.

        Raises:
            ServiceError: its subclass says what went wrong.
        """
        return _answer(self._ask("POST", "/v1/answers", self._question(request_id, votes, counts, replay_key, sets, labels)))

    def answers(self, requests: Iterable[Dict[str, Any]]) -> List[Union[Answer, ServiceError]]:
        """Answers to several queries: dicts with ``request_id``, ``votes``, ``counts`` or ``sets``,
        and perhaps ``labels`` and a ``replay_key``.

        Each is answered or refused by itself: where it was refused, the error stands in its
        place and is not raised. All that the server puts off is asked again, and what is too much
        for one request is sent in parts. A failure of a whole request is raised where nothing was
        answered; else it stands in place of what is left, and nothing more is asked.
        """
        asked = [
            self._question(r["request_id"], r.get("votes"), r.get("counts"), r.get("replay_key"), r.get("sets"), r.get("labels"))
            for r in requests
        ]
        out: List[Union[Answer, ServiceError]] = [_NOT_ASKED] * len(asked)
        parts = [list(range(len(asked)))] if asked else []
        while parts:
            part = parts.pop(0)
            most = self._most
            try:
                if len(part) <= most:
                    self._batch(part, asked, out)
                    continue
            except ServiceError as e:
                if e.status != 413:
                    if not any(isinstance(a, Answer) for a in out):
                        raise
                    return [e if isinstance(a, (RateLimited, Unavailable)) else a for a in out]
                if len(part) == 1:
                    out[part[0]] = e
                    continue
                most = max(1, min(e.most or len(part) // 2, len(part) - 1))
                if e.most:
                    self._most = most
            parts = [part[:most], part[most:], *parts]
        return out

    def _batch(self, part: List[int], asked: List[Dict[str, Any]], out: List[Union[Answer, ServiceError]]) -> None:
        """Asks some of the questions until each is answered, or refused for good, or retries end."""
        todo = part
        for attempt in range(self.retries + 1):
            answers = self._ask("POST", "/v1/answers", {"requests": [asked[i] for i in todo]})["answers"]
            if len(answers) != len(todo):
                raise ServiceError(f"{self.address}: {len(todo)} requests have {len(answers)} answers", "internal", 200)
            again: List[int] = []
            pause = 0.0
            for i, a in zip(todo, answers):
                e = out[i] = _error(a["error"], 200, None) if "error" in a else _answer(a)
                if isinstance(e, (RateLimited, Unavailable)):
                    again.append(i)
                    pause = max(pause, e.retry_after or 0.0)
            todo = again
            if not todo or attempt == self.retries:
                return
            self._pause(attempt, pause)

    def budget(self) -> Dict[str, Any]:
        """What was granted, spent and remains, and what that promises in words."""
        return self._ask("GET", "/v1/budget")

    def mechanism(self) -> Dict[str, Any]:
        """What answers: K, classes, promise, and the table with its certificate where there is one."""
        return self._ask("GET", "/v1/mechanism")

    def close(self) -> None:
        """Close this thread's connection. The client stays usable."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"darrm.Client({self.address!r})"  # without the token

    def _question(
        self, request_id: str, votes: Optional[Sequence[Vote]], counts: Optional[Sequence[int]], replay_key: Optional[str],
        sets: Any = None, labels: Any = None,
    ) -> Dict[str, Any]:
        given = [(name, values) for name, values in (("votes", votes), ("counts", counts), ("sets", sets)) if values is not None]
        if len(given) != 1:
            raise ValueError(f"request {request_id!r} must have one of votes, counts and sets, but it has {len(given)}")
        if labels is not None and sets is None:
            raise ValueError(f"request {request_id!r} has labels, which go with sets")
        name, values = given[0]
        key = self._keys.of(request_id) if replay_key is None else replay_key
        out: Dict[str, Any] = {"request_id": request_id, "replay_key": key}
        if name == "sets":
            out[name] = [None if v is None else [_label(one) for one in _members("a set of labels", v)] for v in _listed(name, values)]
        else:
            out[name] = [_plain(name, v) for v in _listed(name, values)]
        if labels is not None:
            out["labels"] = [_label(one) for one in _members("labels", labels)]
        return out

    def _ask(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        text = None if body is None else json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
        for attempt in range(self.retries + 1):
            try:
                return self._once(method, path, text)
            except (RateLimited, Unavailable) as e:
                if attempt == self.retries:
                    raise
                self._pause(attempt, e.retry_after)
        raise AssertionError("there is a last attempt")

    def _pause(self, attempt: int, stated: Optional[float]) -> None:
        pause = min(10.0, self.backoff * 2.0**attempt) * random.uniform(0.5, 1)
        time.sleep(max(pause, stated or 0.0))

    def _once(self, method: str, path: str, body: Optional[bytes]) -> Dict[str, Any]:
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            try:
                response = self._send(method, path, body, headers)
            except ConnectionError:
                if not self._local.reused:
                    raise
                self.close()  # the server closed a connection that was idle
                response = self._send(method, path, body, headers)
            text = response.read()
            status, after = response.status, response.getheader("Retry-After")
        except ssl.SSLCertVerificationError as e:
            self.close()  # trying again would not make it another server
            raise ServiceError(f"{self.address}: {e}", "certificate") from e
        except (OSError, http.client.HTTPException) as e:
            self.close()
            raise Unavailable(f"{self.address}: {e or type(e).__name__}", "unavailable") from e
        except BaseException:
            self.close()  # what is left of this response must not be read as the next one
            raise
        try:
            data = json.loads(text)
            if not isinstance(data, dict):
                raise ValueError("it is not an object")
        except ValueError as e:
            if status in (502, 503, 504):  # of something in between
                raise Unavailable(f"{self.address}: status {status}", "unavailable", status, None, _seconds(after)) from e
            raise ServiceError(f"{self.address}: status {status}, and the response is not darrm's: {e}", "internal", status) from e
        if status != 200:
            raise _error(data.get("error"), status, after)
        return data

    def _send(self, method: str, path: str, body: Optional[bytes], headers: Dict[str, str]) -> http.client.HTTPResponse:
        connection = getattr(self._local, "connection", None)
        self._local.reused = connection is not None
        if connection is None:
            connection = self._local.connection = self._connect()
        connection.request(method, path, body, headers)
        response: http.client.HTTPResponse = connection.getresponse()
        return response

    def _connect(self) -> http.client.HTTPConnection:
        if self._path:
            return _UnixConnection(self._path, self.timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self.timeout, context=self._context)


Client.__module__ = "darrm"

_BATCH = 256  # requests that are sent at once
_NOT_ASKED = Unavailable("it was not asked", "unavailable")


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            s.settimeout(self.timeout)
            s.connect(self._path)
        except BaseException:
            s.close()
            raise
        self.sock = s


def _listed(name: str, values: Any) -> List[Any]:
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} are a {type(values).__name__}, but they must be a sequence")
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _members(name: str, values: Any) -> List[Any]:
    """The members in an order that does not depend on the run: sets of Python have none."""
    members = _listed(name, values)
    return sorted(members, key=lambda v: (isinstance(v, str), v)) if isinstance(values, (set, frozenset)) else members


def _label(value: Any) -> Union[int, str]:
    if isinstance(value, str):
        return value
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return int(value)
    raise TypeError(f"a set of labels has {value!r}, which is neither the index of a label nor a name")


def _plain(name: str, value: Any) -> Vote:
    """A vote as JSON has it: 1.0 is 1, and NaN or NA is a vote that is missing."""
    if name == "votes":
        if value is None or isinstance(value, str):
            return value
        if type(value).__name__ == "NAType" or value != value:
            return None
    if hasattr(value, "__index__"):
        return int(value)
    if hasattr(value, "is_integer") and value.is_integer():
        return int(value)
    raise TypeError(f"{name} have {value!r}, which is neither a class nor a number of votes")


def _answer(data: Dict[str, Any]) -> Answer:
    try:
        return Answer(
            data["request_id"], data["label"], data["class"], data["replayed"], data["receipt"], data["promise"], data.get("remaining"), data,
            {one["label"]: one["class"] for one in data["labels"]} if "labels" in data else None,
        )
    except KeyError as e:
        raise ServiceError(f"the server's answer has no {e}", "internal", 200) from e


def _error(e: Any, status: int, after: Optional[str]) -> ServiceError:
    if not isinstance(e, dict):
        e = {}
    kind = str(e.get("kind", "unavailable" if status == 503 else "internal"))
    made = _KINDS.get(kind, ServiceError)
    most, later = e.get("most"), e.get("retry_after")
    seconds = float(later) if isinstance(later, (int, float)) else _seconds(after)
    return made(str(e.get("message", f"status {status}")), kind, status, e.get("remaining"), seconds, most if isinstance(most, int) else None)


def _seconds(after: Optional[str]) -> Optional[float]:
    """Retry-After in seconds; a date is not what darrm writes."""
    return float(after) if after is not None and after.isdigit() else None
