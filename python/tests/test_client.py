"""The client of darrm serve: against a server that fails as told, and against the program."""

import concurrent.futures
import http.server
import json
import os
import shutil
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).parents[2]
if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(ROOT / "python"))
import darrm  # noqa: E402
from darrm import _client, _program, _replay  # noqa: E402


def answer(request_id, **more):
    return {
        "request_id": request_id, "label": "yes", "class": 1, "replayed": False,
        "receipt": {"ledger": "0" * 32, "seq": 1, "hash": "0" * 64},
        "promise": {"epsilon": 0.3, "delta": 0, "of": "this answer", "teachers": "fresh", "affected": 1},
        "remaining": {"epsilon": 1, "delta": 0}, **more,
    }


def failure(kind, **more):
    return {"error": {"kind": kind, "message": "no: " + kind, **more}}


class Fake(http.server.BaseHTTPRequestHandler):
    """Does what the list of steps says, one for each request: (status, body, headers), or a word."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.handle_one(body)

    def do_GET(self):
        self.handle_one(None)

    def handle_one(self, body):
        s = self.server
        s.seen.append((self.command, self.path, dict(self.headers), body))
        step = s.steps.pop(0) if s.steps else (200, answer((body or {}).get("request_id")), {})
        if step == "drop":  # as one that is killed
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if step == "half":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"request_id":')
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if step == "hang":
            s.release.wait(20)
            self.close_connection = True
            return
        status, data, headers = step
        text = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64  # a full queue refuses who connects to a Unix socket

    def get_request(self):
        request, _ = super().get_request()
        return request, ("", 0)


class TLSServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a client that does not trust it hangs up


def certificate(cert, key):
    """A certificate of localhost that vouches for itself."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert], check=True, capture_output=True)


def started(test, server):
    server.seen, server.steps, server.release = [], [], threading.Event()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    test.addCleanup(server.server_close)
    test.addCleanup(server.shutdown)
    test.addCleanup(server.release.set)
    return server


class Against(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = str(self.folder / "s")
        self.server = started(self, UnixServer(self.path, Fake))
        self.pauses = []
        patch = mock.patch("time.sleep", self.pauses.append)
        patch.start()
        self.addCleanup(patch.stop)

    def client(self, **options):
        c = darrm.Client("unix:" + self.path, **options)
        self.addCleanup(c.close)
        return c

    def test_answer(self):
        a = self.client(token="secret").answer("r1", [0, 1.0, "yes", None, float("nan"), True])
        self.assertEqual((a.request_id, a.label, a.index, a.abstained, a.replayed), ("r1", "yes", 1, False, False))
        method, path, headers, body = self.server.seen[0]
        self.assertEqual((method, path), ("POST", "/v1/answers"))
        self.assertRegex(body.pop("replay_key"), "^[0-9a-f]{64}$")
        self.assertEqual(body, {"request_id": "r1", "votes": [0, 1, "yes", None, None, 1]})
        self.assertEqual((headers["Authorization"], headers["Content-Type"]), ("Bearer secret", "application/json"))

    def test_abstained(self):
        self.server.steps = [(200, answer("r", label=None, **{"class": None}, abstained=True), {})]
        self.assertTrue(self.client().answer("r", counts=[1, 1]).abstained)

    def test_kinds(self):
        for kind, status, want in [
            ("invalid", 400, darrm.InvalidRequest), ("unauthorized", 401, darrm.Unauthorized), ("forbidden", 403, darrm.Forbidden),
            ("not_found", 404, darrm.InvalidRequest), ("conflict", 409, darrm.Conflict), ("too_large", 413, darrm.InvalidRequest),
            ("media_type", 415, darrm.InvalidRequest), ("budget", 429, darrm.BudgetExhausted), ("internal", 500, darrm.ServiceError),
            ("something new", 418, darrm.ServiceError),
        ]:
            with self.subTest(kind=kind):
                self.server.steps = [(status, failure(kind, remaining={"epsilon": 0.1, "delta": 0}), {})]
                before = len(self.server.seen)
                with self.assertRaises(want) as caught:
                    self.client().answer("r", counts=[3, 8])
                e = caught.exception
                self.assertIs(type(e), want)
                self.assertEqual((e.kind, e.status, e.remaining, str(e)), (kind, status, {"epsilon": 0.1, "delta": 0}, "no: " + kind))
                self.assertEqual(len(self.server.seen), before + 1, "a refusal is no reason to ask again")
        self.assertTrue(issubclass(darrm.BudgetExhausted, darrm.BudgetError))
        self.assertTrue(issubclass(darrm.InvalidRequest, darrm.InputError))

    def test_kinds_of_the_interface(self):
        """Every kind of the document has its error, and no other has one."""
        doc = ROOT / "serve" / "openapi" / "openapi.json"
        kinds = json.loads(doc.read_text(encoding="utf-8"))["components"]["schemas"]["Error"]["properties"]["kind"]["enum"]
        self.assertEqual(set(kinds), set(_client._KINDS))

    def test_asks_again_under_the_same_id(self):
        self.server.steps = [
            "drop", "half", (503, failure("unavailable"), {"Retry-After": "7"}), (429, failure("rate"), {"Retry-After": "3"}),
            (502, b"<html>bad gateway</html>", {}), (200, answer("r", replayed=True), {}),
        ]
        a = self.client().answer("r", counts=[3, 8])
        self.assertTrue(a.replayed)
        bodies = [seen[3] for seen in self.server.seen]
        self.assertEqual(bodies, [{"request_id": "r", "replay_key": bodies[0]["replay_key"], "counts": [3, 8]}] * 6)
        self.assertEqual(len(self.pauses), 5)
        self.assertGreaterEqual(self.pauses[2], 7)
        self.assertGreaterEqual(self.pauses[3], 3)
        for i in (0, 1, 4):
            self.assertLessEqual(self.pauses[i], 0.1 * 2**i)

    def test_gives_up(self):
        self.server.steps = ["drop"] * 10
        with self.assertRaises(darrm.Unavailable):
            self.client(retries=2).answer("r", counts=[3, 8])
        self.assertEqual(len(self.server.seen), 3)
        self.server.steps = [(429, failure("rate"), {"Retry-After": "1"})]
        with self.assertRaises(darrm.RateLimited) as caught:
            self.client(retries=0).answer("r", counts=[3, 8])
        self.assertEqual(caught.exception.retry_after, 1)

    def test_timeout(self):
        self.server.steps = ["hang"]
        start = time.monotonic()
        with self.assertRaises(darrm.Unavailable):
            self.client(retries=0, timeout=1).answer("r", counts=[3, 8])
        self.assertLess(time.monotonic() - start, 10)
        # The late response is not taken for that to the next request.
        self.server.steps = ["hang", (200, answer("second"), {})]
        c = self.client(retries=0, timeout=1)
        with self.assertRaises(darrm.Unavailable):
            c.answer("first", counts=[3, 8])
        self.assertEqual(c.answer("second", counts=[3, 8]).request_id, "second")

    def test_an_idle_connection_that_was_closed(self):
        c = self.client(retries=0)
        self.server.steps = [(200, answer("a"), {}), "drop", (200, answer("b"), {})]
        c.answer("a", counts=[3, 8])
        self.assertEqual(c.answer("b", counts=[3, 8]).request_id, "b")
        self.assertEqual(self.pauses, [])

    def test_batches(self):
        self.server.steps = [
            (200, {"answers": [answer("a"), failure("conflict"), failure("unavailable"), answer("d")]}, {}),
            (200, {"answers": [answer("c", replayed=True)]}, {}),
        ]
        asked = [{"request_id": i, "counts": [3, 8]} for i in "abcd"]
        a, b, c, d = self.client().answers(asked)
        self.assertEqual([a.request_id, c.request_id, d.request_id], ["a", "c", "d"])
        self.assertIs(type(b), darrm.Conflict)
        self.assertEqual(self.server.seen[1][3], {"requests": [self.server.seen[0][3]["requests"][2]]})
        self.assertEqual([r.pop("replay_key") != "" and r for r in self.server.seen[0][3]["requests"]], asked)

    def test_large_batches_are_several(self):
        many = [{"request_id": str(i), "votes": [1]} for i in range(_client._BATCH + 1)]
        self.server.steps = [(200, {"answers": [answer(r["request_id"]) for r in part]}, {}) for part in (many[:-1], many[-1:])]
        got = self.client().answers(many)
        self.assertEqual([a.request_id for a in got], [r["request_id"] for r in many])

    def parts(self):
        """How many queries each request had."""
        return [len(seen[3]["requests"]) for seen in self.server.seen]

    def serve(self, most, **refused):
        """Steps are made as they are asked: batches of at most so many are answered, but those refused."""
        test = self

        class Steps:
            def __bool__(self):
                return True

            def pop(self, _):
                ids = [r["request_id"] for r in test.server.seen[-1][3]["requests"]]
                if len(ids) > most:
                    return 413, failure("too_large", **({"most": most} if refused.get("told", True) else {})), {}
                for i in ids:
                    if i in refused:
                        return refused[i]
                return 200, {"answers": [answer(i) for i in ids]}, {}

        self.server.steps = Steps()

    def test_batches_above_the_burst_are_split(self):
        self.serve(3)
        c = self.client()
        asked = [{"request_id": str(i), "counts": [3, 8]} for i in range(8)]
        self.assertEqual([a.request_id for a in c.answers(asked)], [str(i) for i in range(8)])
        self.assertEqual(self.parts(), [8, 3, 3, 2])
        c.answers(asked)  # the server has said how many
        self.assertEqual(self.parts()[4:], [3, 3, 2])
        self.assertEqual(self.pauses, [])

    def test_bodies_that_are_too_large_are_halved(self):
        self.serve(3, told=False)
        got = self.client().answers([{"request_id": str(i), "counts": [3, 8]} for i in range(8)])
        self.assertEqual([a.request_id for a in got], [str(i) for i in range(8)])
        self.assertEqual(self.parts(), [8, 4, 2, 2, 4, 2, 2])
        self.server.seen.clear()
        self.serve(0, told=False)  # not even one
        (got,) = self.client().answers([{"request_id": "a", "counts": [3, 8]}])
        self.assertEqual((got.kind, self.parts()), ("too_large", [1]))

    def test_what_was_answered_is_not_lost(self):
        """A failure of a later part stands in the place of its queries; of the first, it is raised."""
        for step, kind in (((429, failure("rate", retry_after=1), {"Retry-After": "1"}), darrm.RateLimited),
                           ((503, failure("unavailable", retry_after=1), {}), darrm.Unavailable),
                           ((401, failure("unauthorized"), {}), darrm.Unauthorized)):
            with self.subTest(kind=kind):
                self.serve(2, **{"4": step})
                got = self.client(retries=1).answers([{"request_id": str(i), "counts": [3, 8]} for i in range(7)])
                self.assertEqual([a.request_id for a in got[:4]], list("0123"))
                self.assertEqual([type(a) for a in got[4:]], [kind] * 3)
                self.serve(2, **{"0": step})
                with self.assertRaises(kind):
                    self.client(retries=1).answers([{"request_id": str(i), "counts": [3, 8]} for i in range(7)])

    def test_what_may_not_be_known(self):
        a = answer("a")
        del a["remaining"]
        late = {"request_id": "b", **failure("unavailable", retry_after=7)}
        self.server.steps = [(200, {"answers": [a, late]}, {}), (200, {"answers": [answer("b", remaining={"answers": 3})]}, {})]
        a, b = self.client().answers([{"request_id": i, "counts": [3, 8]} for i in "ab"])
        self.assertIsNone(a.remaining)
        self.assertEqual((b.request_id, b.remaining), ("b", {"answers": 3}))
        self.assertGreaterEqual(self.pauses[0], 7)

    def test_a_wrong_number_of_answers(self):
        self.server.steps = [(200, {"answers": [answer("a")]}, {})]
        with self.assertRaises(darrm.ServiceError):
            self.client().answers([{"request_id": i, "counts": [3, 8]} for i in "ab"])

    def test_not_a_server_of_darrm(self):
        for body in (b"<html>", b"[]", b'{"label":"yes"}', b'{"error":"no"}'):
            self.server.steps = [(200, body, {})]
            with self.subTest(body=body), self.assertRaises(darrm.ServiceError) as caught:
                self.client().answer("r", counts=[3, 8])
            self.assertEqual(caught.exception.kind, "internal")

    def test_what_is_asked(self):
        c = self.client()
        for bad in ({}, {"votes": [1], "counts": [1]}):
            with self.assertRaises(ValueError):
                c.answer("r", **bad)
        for bad in ("101", b"101", {0: 1}, 5, [0.5], [[1]]):
            with self.assertRaises(TypeError):
                c.answer("r", votes=bad)
        for bad in ([None, 1], [float("nan"), 1], ["3", 8]):
            with self.assertRaises(TypeError):
                c.answer("r", counts=bad)
        self.assertEqual(self.server.seen, [])

    def test_sets_of_labels(self):
        c = self.client()
        told = [{"label": "cat", "class": 1}, {"label": "bird", "class": None}]
        self.server.steps = [(200, answer("q", label=None, labels=told, **{"class": None}), {})]
        got = c.answer("q", sets=[["cat", 2], {"dog", "bird"}, (), None, [0]], labels=["cat", 2])
        self.assertEqual((got.labels, got.label, got.index, got.abstained), ({"cat": 1, "bird": None}, None, None, False))
        sent = self.server.seen[0][3]
        self.assertEqual((sent["sets"], sent["labels"]), ([["cat", 2], ["bird", "dog"], [], None, [0]], ["cat", 2]))
        self.server.steps = [(200, {"answers": [answer("a", labels=told[1:], label=None, **{"class": None}), answer("b")]}, {})]
        a, b = c.answers([{"request_id": "a", "sets": [[]]}, {"request_id": "b", "sets": [[0]], "labels": [1]}])
        self.assertEqual((a.labels, a.abstained, b.labels), ({"bird": None}, True, None))
        self.assertEqual([("labels" in r, r["sets"]) for r in self.server.seen[1][3]["requests"]], [(False, [[]]), (True, [[0]])])
        for bad in ({"sets": [[1]], "votes": [1]}, {"votes": [1], "labels": [0]}, {"labels": [0]}):
            with self.assertRaises(ValueError):
                c.answer("r", **bad)
        for bad in ([1], ["cat"], [[0.5]], [[None]], [[True]], "cat"):
            with self.assertRaises(TypeError):
                c.answer("r", sets=bad)
        self.assertEqual(len(self.server.seen), 2)

    def test_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        self.client().answer("r", numpy.array([1.0, 0.0, float("nan")]))
        self.assertEqual(self.server.seen[0][3]["votes"], [1, 0, None])

    def test_replay_keys(self):
        """One for each id, kept in a file if it is named; another client's are others."""
        path = self.folder / "replay.secret"
        clients = [self.client(), self.client(), self.client(replay_secret=path), self.client(replay_secret=str(path))]
        for c in clients:
            for name in ("a", "b", "a"):
                c.answer(name, counts=[3, 8])
        sent = [seen[3]["replay_key"] for seen in self.server.seen]
        self.assertEqual(len(set(sent)), 6, "two for each secret")
        self.assertEqual([sent[i] for i in range(0, 12, 3)], [sent[i] for i in range(2, 12, 3)])
        self.assertEqual(sent[6:9], sent[9:12])
        clients[0].answer("a", counts=[3, 8], replay_key="0" * 32)
        self.server.steps = [(200, {"answers": [answer("c")]}, {})]
        clients[0].answers([{"request_id": "c", "counts": [3, 8], "replay_key": "1" * 32}])
        self.assertEqual((self.server.seen[-2][3]["replay_key"], self.server.seen[-1][3]["requests"][0]["replay_key"]), ("0" * 32, "1" * 32))

    def test_replay_secrets(self):
        path = self.folder / "replay.secret"
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            made = {keys.of("a") for keys in pool.map(lambda _: _replay.ReplayKeys(path), range(32))}
        self.assertEqual(len(made), 1)
        self.assertEqual([f.name for f in self.folder.iterdir() if "replay" in f.name or f.name.startswith(".")], ["replay.secret"])
        good = path.read_bytes()
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        for bad in (b"", good[:-1], good + b"x", good.upper(), good.replace(b"secret 1", b"secret 2"), good[:-3] + b" 0\n"):
            path.write_bytes(bad)
            with self.subTest(bad=bad), self.assertRaises(ValueError) as caught:
                self.client(replay_secret=path)
            self.assertNotIn(good[22:40].decode(), str(caught.exception))
            self.assertEqual(path.read_bytes(), bad)
        path.write_bytes(good)
        path.chmod(0o640)
        with self.assertRaises(ValueError):
            self.client(replay_secret=path)
        self.assertEqual(self.server.seen, [])

    def test_threads(self):
        c = self.client()
        wrong = []

        def ask(i):
            for j in range(20):
                name = f"{i}-{j}"
                if c.answer(name, counts=[3, 8]).request_id != name:
                    wrong.append(name)
            c.close()

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual((wrong, len(self.server.seen)), ([], 160))

    def test_addresses(self):
        for bad in ("http://x", "unix:", "x", "https://", "https://h/path", "https://u:p@h", "ftp://x"):
            with self.assertRaises(ValueError):
                darrm.Client(bad)
        with self.assertRaises(ValueError) as caught:
            darrm.Client("unix:/x", token="a\nb")
        self.assertNotIn("a\nb", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "token is empty"):
            darrm.Client("unix:/x", token="")
        self.assertNotIn("secret", repr(darrm.Client("unix:/x", token="secret")))


@unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
class OverTLS(unittest.TestCase):
    def test_tls(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cert, key = Path(folder.name) / "cert.pem", Path(folder.name) / "key.pem"
        certificate(cert, key)
        server = TLSServer(("127.0.0.1", 0), Fake)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        started(self, server)
        address = f"https://localhost:{server.server_port}"
        with darrm.Client(address, token="secret", ca=str(cert), retries=0) as c:
            self.assertEqual(c.answer("r", counts=[3, 8]).label, "yes")
        with darrm.Client(address, token="secret", retries=3) as c, self.assertRaises(darrm.ServiceError) as caught:
            c.answer("r", counts=[3, 8])  # nobody vouches for this certificate
        self.assertEqual(caught.exception.kind, "certificate")
        self.assertEqual(len(server.seen), 1, "the token went to a server that nobody vouches for")


class AgainstTheProgram(unittest.TestCase):
    """``darrm serve`` itself, on a Unix socket and over TLS with tokens."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.ledger = darrm.Ledger.create(self.folder / "patients.ledger", eps=2, delta=0)

    def serve(self, *more, missing="coin"):
        command = [
            _program.program(), "serve", "--json", "--ledger", str(self.folder / "patients.ledger"), "--key", str(self.folder / "key"),
            "--mechanism", "permute-and-flip", "--K", "11", "--label-eps", "0.5", "--affected", "1", "--missing", missing, *map(str, more),
        ]
        p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.terminate)
        said = b""
        while not said.endswith(b"}\n"):
            line = p.stdout.readline()
            self.assertTrue(line, "the server does not start")
            said += line
        return json.loads(said)["listen"], p  # it listens from now on

    def test_socket(self):
        listen, server = self.serve("--listen", f"unix:{self.folder}/s")
        secret = self.folder / "replay.secret"
        with darrm.Client(listen, replay_secret=secret) as c:
            first = c.answer("image-1", [1, 1, 0, 1, "1", 1, 0, None, 1, 0, 1])
            self.assertIn(first.label, ("0", "1"))
            self.assertEqual(first.index, int(first.label))
            self.assertEqual((first.replayed, first.remaining, first.promise["epsilon"]), (False, {"epsilon": 1.5, "delta": 0}, 0.5))
            again = c.answer("image-1", [1, 1, 0, 1, 1, 1, 0, None, 1, 0, 1])
            self.assertEqual((again.replayed, again.label, again.receipt), (True, first.label, first.receipt))
            with darrm.Client(listen, replay_secret=secret) as restarted:
                again = restarted.answer("image-1", [1, 1, 0, 1, 1, 1, 0, None, 1, 0, 1])
                self.assertEqual((again.replayed, again.label, again.receipt), (True, first.label, first.receipt))
            with self.assertRaises(darrm.Conflict):
                c.answer("image-1", counts=[3, 8])
            with darrm.Client(listen) as stranger, self.assertRaises(darrm.Conflict):
                stranger.answer("image-1", [1, 1, 0, 1, 1, 1, 0, None, 1, 0, 1])
            with self.assertRaises(darrm.InvalidRequest):
                c.answer("image-2", counts=[3, 9])
            server.kill()  # as a loss of power
            server.wait()
            self.serve("--listen", f"unix:{self.folder}/s")
            got = c.answers([{"request_id": f"image-{i}", "counts": [i, 11 - i]} for i in range(2, 7)] + [{"request_id": "bad", "votes": [7] * 11}])
            self.assertEqual([type(a) for a in got].count(darrm.Answer), 3)
            self.assertEqual([type(a) for a in got].count(darrm.BudgetExhausted), 2)
            self.assertIsInstance(got[-1], darrm.InvalidRequest)
            for a in got:
                if isinstance(a, darrm.BudgetExhausted):
                    self.assertEqual(a.remaining, {"epsilon": 0, "delta": 0})
            self.assertEqual(c.budget()["remaining"], {"epsilon": 0, "delta": 0})
            self.assertEqual(c.mechanism()["k"], 11)
        self.assertEqual(self.ledger.show()["remaining"], {"epsilon": 0, "delta": 0})

    def test_several_labels(self):
        """A question of which a teacher's first label counts is two answers, whichever labels are asked."""
        listen, _ = self.serve("--labels", "cat,dog,bird", "--most-yes", 1, "--listen", f"unix:{self.folder}/s", missing="no")
        sets = [["cat", "dog"]] * 5 + [[], None, ["bird"], [1], {"dog"}, ()]
        with darrm.Client(listen) as c:
            first = c.answer("a", sets=sets, labels=["bird"])
            self.assertEqual((list(first.labels), first.label, first.remaining), (["bird"], None, {"epsilon": 1, "delta": 0}))
            self.assertIn(first.labels["bird"], (0, 1))
            again = c.answer("a", sets=sets, labels=[2])
            self.assertEqual((again.replayed, again.labels), (True, first.labels))
            with self.assertRaises(darrm.Conflict):
                c.answer("a", sets=sets)
            with self.assertRaises(darrm.InvalidRequest):
                c.answer("b", sets=sets[1:])
            second = c.answer("b", sets=sets)
            self.assertEqual((list(second.labels), second.remaining), (["cat", "dog", "bird"], {"epsilon": 0, "delta": 0}))
            with self.assertRaises(darrm.BudgetExhausted):
                c.answer("c", sets=sets, labels=["cat"])
            self.assertEqual((c.mechanism()["labels"], c.mechanism()["most_yes"]), (["cat", "dog", "bird"], 1))

    def test_a_batch_above_the_burst(self):
        """A batch that the server never answers whole comes back answered, in parts, at the client's rate."""
        made = json.loads(darrm.run("serve", "token", "--json"))
        config = self.folder / "serve.toml"
        config.write_text(f"""
[[client]]
name = "ward"
token_sha256 = ["{made['token_sha256']}"]
rate = 50
burst = 2
may = ["answer"]
""")
        listen, _ = self.serve("--config", config, "--listen", f"unix:{self.folder}/s")
        with darrm.Client(listen, token=made["token"]) as c:
            got = c.answers([{"request_id": str(i), "counts": [3, 8]} for i in range(6)])
            self.assertEqual([type(a) for a in got].count(darrm.Answer), 4)
            self.assertEqual([type(a) for a in got].count(darrm.BudgetExhausted), 2)
            self.assertEqual({a.remaining for a in got}, {None})  # it may not look, and has no share
            self.assertEqual(c.answer("0", counts=[3, 8]).request_id, "0")

    def test_tls_and_tokens(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl to make certificates with")
        cert, key = self.folder / "cert.pem", self.folder / "key.pem"
        certificate(cert, key)
        made = json.loads(darrm.run("serve", "token", "--json"))
        config = self.folder / "serve.toml"
        config.write_text(f"""
tls-cert = "{cert}"
tls-key = "{key}"

[[client]]
name = "ward"
token_sha256 = ["{made['token_sha256']}"]
epsilon = 0.5
delta = 0.0
may = ["answer"]
""")
        listen, _ = self.serve("--config", config, "--listen", "tcp:localhost:0")
        address = "https://localhost:" + listen.rsplit(":", 1)[1]
        with darrm.Client(address, token=made["token"], ca=str(cert)) as c:
            self.assertFalse(c.answer("a", counts=[3, 8]).replayed)
            with self.assertRaises(darrm.BudgetExhausted) as caught:
                c.answer("b", counts=[3, 8])  # more than the share, less than the budget
            self.assertEqual(caught.exception.remaining, {"epsilon": 0, "delta": 0})
            with self.assertRaises(darrm.Forbidden):
                c.budget()
        for token in (None, "darrm_x"):
            with darrm.Client(address, token=token, ca=str(cert)) as c, self.assertRaises(darrm.Unauthorized):
                c.answer("c", counts=[3, 8])


if __name__ == "__main__":
    unittest.main()
