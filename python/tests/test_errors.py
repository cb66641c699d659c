"""Every kind of failure is an exception of its own; progress and interruption are passed on."""

import os
import stat
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
import darrm  # noqa: E402
from darrm import _program  # noqa: E402

VOTES = [[1, 0, 1], [0, 0, 0]]
PROMISE = {"eps": "inf", "affected": 1, "label_eps": 1}


class Kinds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def fails(self, kind, exit_code, call, hint=None):
        with self.assertRaises(kind) as caught:
            call()
        e = caught.exception
        self.assertIs(type(e), kind)
        self.assertIsInstance(e, darrm.DarrmError)
        name = next(n for n, k in _program._KINDS.items() if k is kind)
        self.assertEqual((e.kind, e.exit_code), (name, exit_code))
        self.assertTrue(str(e))
        self.assertNotIn('{"error"', str(e))
        if hint:
            self.assertIn(hint, e.hint)
            self.assertIn("hint: " + e.hint, str(e))
        else:
            self.assertIsNone(e.hint)
        self.tried.add(name)

    def ledger(self, **grant):
        return darrm.Ledger.create(self.folder / "l.ledger", **{"eps": 3, "delta": 0, **grant})

    tried = set()

    def test_usage(self):
        self.fails(darrm.UsageError, 2, lambda: darrm.solve(K=11, m=-3))
        self.assertIsInstance(darrm.UsageError("x"), ValueError)

    def test_input(self):
        self.fails(darrm.InputError, 3, lambda: darrm.describe(self.folder / "no.csv"))

    def test_uncertified(self):
        table = darrm.solve(K=3, m=1, eps=1, teacher_delta=0)
        table.data["m"] = 0.5
        self.fails(darrm.UncertifiedError, 4, lambda: darrm.verify(table))

    def test_solver(self):
        self.fails(darrm.SolverError, 5, lambda: darrm.solve(K=41, m=3, no_cache=True, timeout="1ns"), "--timeout")

    def test_output(self):
        self.fails(darrm.OutputError, 6, lambda: darrm.aggregate(VOTES, out=self.folder / "no" / "l.json", **PROMISE))

    def test_budget(self):
        ledger = self.ledger(eps=2)
        darrm.aggregate(VOTES, ledger=ledger, request_id="one", **PROMISE)
        self.fails(darrm.BudgetError, 7, lambda: darrm.aggregate(VOTES, ledger=ledger, request_id="two", **PROMISE),
                   "darrm budget show")

    def test_ledger(self):
        ledger = self.ledger()
        darrm.aggregate(VOTES, ledger=ledger, request_id="one", **PROMISE)
        whole = Path(ledger).read_bytes()
        Path(ledger).write_bytes(whole[: len(whole) // 2])
        with self.assertRaises(darrm.LedgerError) as caught:
            ledger.verify()
        self.assertEqual((caught.exception.kind, caught.exception.exit_code), ("ledger", 8))
        with self.assertRaises(darrm.LedgerError):
            darrm.aggregate(VOTES, ledger=ledger, request_id="two", **PROMISE)

    @unittest.skipIf(os.name == "nt", "signals")
    def test_interrupted(self):
        """The program itself is interrupted, as by kill -INT."""
        script = self.folder / "interrupted"
        script.write_text(f'#!/bin/sh\nexec timeout --preserve-status -s INT 0.5 "{_program.program()}" "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        with mock.patch.dict(os.environ, {"DARRM": str(script)}):
            self.fails(darrm.Interrupted, 130, lambda: darrm.solve(K=501, m=5, no_cache=True))

    def test_failure(self):
        """A program that ends without a word of why: another kind of darrm, or none."""
        with mock.patch.dict(os.environ, {"DARRM": "/bin/false"}):
            with self.assertRaises(darrm.Failure) as caught:
                darrm.solve(K=3, m=1)
        self.assertEqual((caught.exception.kind, caught.exception.exit_code, caught.exception.hint), ("failure", 1, None))
        with mock.patch.dict(os.environ, {"DARRM": str(self.folder / "nothing")}):
            with self.assertRaises(darrm.Failure):
                darrm.solve(K=3, m=1)

    def test_kinds_are_the_program_s(self):
        """Each exit code that the program lists has one exception; the docs' table has all."""
        said = darrm.run("help", "exit-codes")
        codes = {line.split()[0] for line in said.splitlines() if line.strip()[:1].isdigit()}
        codes.discard("0")
        self.assertEqual(len(codes), len(_program._KINDS), said)
        page = (Path(__file__).parents[2] / "docs/python.md").read_text(encoding="utf-8")
        for name, kind in _program._KINDS.items():
            self.assertRegex(page, rf"\| `{kind.__name__}`.*\| `{name}` \|")


class Progress(unittest.TestCase):
    LONG = {"K": 101, "m": 5, "no_cache": True}

    def test_steps_in_the_caller_s_thread(self):
        steps, threads = [], set()

        def tell(step):
            steps.append(step)
            threads.add(threading.current_thread())

        darrm.solve(**self.LONG, progress=tell)
        self.assertTrue(steps)
        self.assertTrue(all(isinstance(s, dict) and s.get("text") for s in steps))
        self.assertEqual(threads, {threading.current_thread()})

    def test_with_votes(self):
        steps = []
        darrm.aggregate(VOTES * 40000, progress=steps.append, accept_weak=True, **PROMISE)
        self.assertTrue(steps)

    def test_what_it_raises_stops_the_program(self):
        started = []
        popen = _program.subprocess.Popen

        def starting(*a, **k):
            started.append(popen(*a, **k))
            return started[-1]

        for kind in (KeyboardInterrupt, ZeroDivisionError):
            with self.subTest(kind=kind), mock.patch.object(_program.subprocess, "Popen", starting):
                def stop(step):
                    raise kind

                with self.assertRaises(kind):
                    darrm.solve(K=501, m=5, no_cache=True, progress=stop)
                # It has ended, and not with a table.
                self.assertNotIn(started[-1].returncode, (None, 0))


if __name__ == "__main__":
    unittest.main()
