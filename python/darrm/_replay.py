"""The keys with which a client is given its answers again."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from typing import Union

_MAGIC = b"darrm replay secret 1\n"


class ReplayKeys:
    """One replay key for each request id, all from one secret of 256 random bits.

    The key is HMAC-SHA-256 of the id under the secret: who has answers, ids and other keys cannot tell it
    from random bits, and nothing need be kept for each request.

    >>> keys = ReplayKeys()
    >>> len(keys.of("image-1")), keys.of("image-1") == keys.of("image-1"), keys.of("image-1") == ReplayKeys().of("image-1")
    (64, True, False)
    """

    def __init__(self, path: Union[str, "os.PathLike[str]", None] = None):
        self._secret = secrets.token_bytes(32) if path is None else _kept(os.fspath(path))

    def of(self, request_id: str) -> str:
        """The replay key of a request id: 64 hexadecimal digits."""
        return hmac.new(self._secret, b"darrm replay key 1\n" + request_id.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def _kept(path: str) -> bytes:
    """The secret in a file, which is made where there is none. Of several that make it at once all get the same."""
    if not os.path.lexists(path):
        _make(path)
    with open(path, "rb") as f:
        mode = stat.S_IMODE(os.fstat(f.fileno()).st_mode)
        text = f.read(len(_MAGIC) + 66)
    if os.name == "posix" and mode & 0o077:
        raise ValueError(f"replay_secret = {path!r} has the mode {mode:#o}, so others than its owner may use it; only 0600 is accepted")
    try:
        secret = bytes.fromhex(text[len(_MAGIC) : -1].decode("ascii"))
    except ValueError:
        secret = b""
    if not text.startswith(_MAGIC) or len(secret) != 32 or text != _MAGIC + secret.hex().encode() + b"\n":
        raise ValueError(f"replay_secret = {path!r} is no replay secret")
    return secret


def _make(path: str) -> None:
    """Makes the file, on disk and whole or not at all: a secret that is lost gives no answer again."""
    folder = os.path.dirname(path) or "."
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".darrm-")  # for its owner only
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(_MAGIC + secrets.token_hex(32).encode() + b"\n")
            f.flush()
            os.fsync(f.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            return  # another was first
    finally:
        os.unlink(temporary)
    if os.name == "posix":
        directory = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
