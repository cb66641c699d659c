"""What the pages show of Python is what it does: doctests, fragments, and the worked example."""

import contextlib
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(ROOT / "python"))
import darrm  # noqa: E402

MODULES = ["darrm", "darrm._calls", "darrm._client", "darrm._ledger", "darrm._pictures", "darrm._program", "darrm._results", "darrm._shown", "darrm.check"]
PAGES = ["README.md", "python/README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]


class Docstrings(unittest.TestCase):
    def test_doctests(self):
        for name in MODULES:
            with self.subTest(module=name):
                said = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
                self.assertEqual(said.failed, 0)

    def test_every_public_call_has_one(self):
        calls = [getattr(darrm, name) for name in darrm.__all__]
        calls = [c for c in calls if inspect.isfunction(c)] + [darrm.Client, darrm.Budget, darrm.NotPrivate, darrm.PrivateVote]
        calls += [darrm.LogisticRegression, darrm.LinearRegression, darrm.AUCRanker, darrm.Ledger, darrm.Picture, darrm.Result, darrm.Table, darrm.Plan.options.fget]
        self.assertGreater(len(calls), 8)
        for call in calls:
            with self.subTest(call=call):
                self.assertIn(">>> ", inspect.getdoc(call))


def fragments(text):
    """The fenced blocks of Python, with their lines."""
    return [
        (text[: m.start(1)].count("\n") + 1, m.group(1))
        for m in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


class Pages(unittest.TestCase):
    def test_fragments(self):
        """Every fragment is run as printed; those of one page after one another."""
        ran = 0
        for page in PAGES:
            names = {}
            for line, code in fragments((ROOT / page).read_text(encoding="utf-8")):
                ran += 1
                with self.subTest(page=page, line=line), tempfile.TemporaryDirectory() as folder:
                    with contextlib.chdir(folder) if hasattr(contextlib, "chdir") else contextlib.nullcontext():
                        if ">>> " not in code:
                            exec(compile(code, f"{page}:{line}", "exec"), names)
                            continue
                        test = doctest.DocTestParser().get_doctest(code, names, page, page, line)
                        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
                        runner.run(test, clear_globs=False)
                        names.update(test.globs)
                        self.assertEqual(runner.failures, 0)
        self.assertGreater(ran, 4)


class Models(unittest.TestCase):
    def test_page_predicts(self):
        """The function of docs/formats.md has the program's probabilities, of longer records too."""
        text = next(code for _, code in fragments((ROOT / "docs/formats.md").read_text(encoding="utf-8")) if "def probability" in code)
        names = {}
        exec(compile(text, "docs/formats.md", "exec"), names)
        x = names["np"].random.default_rng(1).uniform(-1, 1, (200, 3))
        y = (x[:, 0] > 0).astype(int)
        for intercept in (True, False):
            model = darrm.LogisticRegression(epsilon=5, delta=1e-6, scale=(-1, 1), radius=0.7, fit_intercept=intercept).fit(x, y)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.json")
                model.save(path)
                got = names["probability"](path, x)
            # A score z that is rounded to 1e-14 of itself moves e^z by |z| times that.
            names["np"].testing.assert_allclose(got, model.predict_proba(x)[:, 1], rtol=1e-10)


def matches(shown, got):
    """Whether a text is what a page shows, where … stands for anything in a line."""
    pattern = "\n".join("[^\n]*?".join(map(re.escape, line.split("…"))) for line in shown.splitlines())
    return re.fullmatch(pattern + "\n?", got) is not None


def figures(pattern, said):
    return [float(f) for f in re.search(pattern, said).groups()]


class Example(unittest.TestCase):
    def test_output_is_the_page_s(self):
        """What each example prints is on the page, and its labels are about as good as they are on average.

        The noise is the system's, so figures of labels are random. Each is within six standard
        deviations of its mean over many runs: one run in 10⁸ fails by chance.
        """
        page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        shown = re.findall(r"^<!-- output of ([^\n]*) -->\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        said = {example: self.run_example(example, text) for example, text in shown}
        self.assertEqual(set(said), {"python/examples/prompts.py", "python/examples/matrix.py"})
        # 200 labels of which 91.1 % agree on average have a standard deviation of at most 2.1
        # points; labels that ignore the votes agree in about 30 %.
        agree, right = figures(r"released labels: agree (\S+) %, right (\S+) %", said["python/examples/prompts.py"])
        self.assertLess(abs(agree - 91.1), 6 * 2.1)
        self.assertLess(abs(right - 78.8), 6 * 2.9)
        # 150 labels of which 89 % are right: 2.6 points; labels that ignore the votes have 50 %.
        self.assertLess(abs(figures(r"labels: right (\S+) %", said["python/examples/matrix.py"])[0] - 89), 6 * 2.6)

    def run_example(self, example, shown):
        environment = dict(os.environ)
        if not os.environ.get("DARRM_INSTALLED"):
            environment["PYTHONPATH"] = str(ROOT / "python")
        ran = subprocess.run(
            [sys.executable, str(ROOT / example)], env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120
        )
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(matches(shown, ran.stdout), f"it prints\n{ran.stdout}\nbut the page shows\n{shown}")
        return ran.stdout

    def test_cells(self):
        for example in (ROOT / "python/examples").glob("*.py"):
            text = example.read_text(encoding="utf-8")
            self.assertGreater(len(re.findall(r"^# %%$", text, re.MULTILINE)), 2)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 120)

    def test_matches(self):
        self.assertTrue(matches("a … b\nc", "a 17 b\nc\n"))
        self.assertFalse(matches("a … b\nc", "a 17\n b\nc\n"))
        self.assertFalse(matches("a\n", "a\nb\n"))


if __name__ == "__main__":
    unittest.main()
