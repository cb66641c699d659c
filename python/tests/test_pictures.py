"""Pictures and notebooks' HTML of results: what they show is what the result says."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
import darrm  # noqa: E402
from darrm import _pictures, _shown  # noqa: E402

VOTES = [[1, 1, 1, 0, 1]] * 8 + [[0, 1, 0, 0, 0]] * 5
WITHIN = {"budget_eps": 3, "budget_delta": 1e-6, "data": "disjoint"}
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return ["".join(t.itertext()) for t in ElementTree.fromstring(svg).iter(SVG + "text")]


class Names(unittest.TestCase):
    def test_long_and_wide_names_fit(self):
        """A bar's name ends before its bar and begins on the picture, whatever its letters are; markup in it is text."""
        for name in ("ä" * 100, "漢字" * 30, "W" * 30, "always <script>alert(1)</script>", "</svg><b>", "e\u0301" * 50):
            svg = _pictures.Picture("t", "x", "y", [_pictures.Bar(name, 0.5)]).svg
            shown = next(t for t in ElementTree.fromstring(svg).iter(SVG + "text") if t.get("text-anchor") == "end")
            self.assertLessEqual(_pictures._width(shown.text), float(shown.get("x")) - 5, name)
            self.assertTrue(name.startswith(shown.text.rstrip("…")), shown.text)
            self.assertNotRegex(svg, "<script|<b>")


class Tables(unittest.TestCase):
    def test_gamma_is_drawn_where_it_is(self):
        """Every point's place on the page gives its γ back, by the places of the ticks 0 and 1."""
        t = darrm.solve(K=11, m=3)
        root = ElementTree.fromstring(t.plot().svg)
        at = {e.text: float(e.get("y")) - 4 for e in root.iter(SVG + "text") if e.get("text-anchor") == "end"}
        heights = [float(c.get("cy")) for c in root.iter(SVG + "circle")]
        self.assertEqual(len(heights), 12)
        for got, want in zip(heights, t.gamma):
            self.assertAlmostEqual((at["0"] - got) / (at["0"] - at["1"]), want, places=3)
        self.assertIn(f"γ, error {t.error:.4g}", texts(t.plot().svg))

    def test_a_tie_is_left_out(self):
        curve = darrm.solve(K=8, m=2).plot().marks[0]
        self.assertEqual([x for x, _ in curve.points], [0, 1, 2, 3, 5, 6, 7, 8])

    def test_the_note_on_dips(self):
        self.assertEqual(darrm.solve(K=11, m=3).plot().note, _shown.DIPS)
        self.assertEqual(darrm.certify(gamma=[0.7, 0.3, 0.1], K=5, affected=1, delta=0).table.plot().note, "")

    def test_many_classes(self):
        """The least and the greatest probability of a lead are those of the laws that were certified."""
        laws = {(4, 0, 0): [0.6, 0.2, 0.2], (3, 1, 0): [0.5, 0.3, 0.2], (2, 2, 0): [0.4, 0.4, 0.2], (2, 1, 1): [0.36, 0.32, 0.32]}
        t = darrm.certify(histograms=laws, affected=1, delta=0).table
        right, guess = t.plot().marks  # each lead has one law
        self.assertEqual([(x, round(y, 9)) for x, y in right.points], [(0, 0.8), (1, 0.36), (2, 0.5), (4, 0.6)])
        self.assertEqual([x for x, _ in guess.points], [1, 2, 4])
        self.assertTrue(guess.aside)
        two = [{"votes": v, "groups": [round(p * 2**53)]} for v, p in (([3, 1, 1], 0.5), ([4, 2, 0], 0.7), ([3, 0, 0], 0.9))]
        least, most, _ = _shown.table([], 0, {**t.data, "masses": two}).marks
        self.assertEqual([(x, round(y, 9)) for x, y in least.points], [(2, 0.5), (3, 0.9)])
        self.assertEqual([(x, round(y, 9)) for x, y in most.points], [(2, 0.7), (3, 0.9)])

    def test_labels_told_apart(self):
        shares = {"label_eps": 0.3, "affected": 1, "shares": [0.9, 0.1], "eps": "inf"}
        t = darrm.solve(K=4, **shares)
        (curve,) = t.plot().marks
        want = [(1 + (1 if 2 * l >= 4 else -1) * g) / 2 for l, g in enumerate(t.gamma)]
        self.assertEqual([y for _, y in curve.points], want)
        self.assertEqual(t.plot().y, "probability of label 1")
        many = darrm.solve(K=5, queries=2, shares=[0.8, 0.2], **WITHIN)
        for mass in many.data["masses"]:
            votes = mass["votes"]
            lead, right = _shown._right(mass, many.data)
            self.assertEqual((lead, right), (abs(votes[0] - votes[1]), mass["groups"][votes.index(max(votes))] / 2**53))


class Results(unittest.TestCase):
    def test_comparison(self):
        c = darrm.compare(VOTES, **WITHIN)
        bars = {b.name: b for b in c.plot().marks}
        for row in c["mechanisms"]:
            if "score" in row:
                bar = bars[row["title"]]
                self.assertEqual((bar.value, bar.interval), (100 * row["score"]["agreement"], [100 * v for v in row["score"]["agreement_95"]]))
                self.assertIn(f"<td>{bar.value:.2f}</td>", c._repr_html_())
        self.assertTrue(c.plot().title.startswith("Not private: 13 queries"))
        self.assertIn("Not private", c._repr_html_())

    def test_what_cannot_be_had_says_why(self):
        c = darrm.compare(VOTES, label_eps=1, data="disjoint")
        refused = [r for r in c.rows if "refused" in r]
        self.assertTrue(refused)
        self.assertEqual(len(c.plot().marks), len(c.rows) - len(refused) + 1)
        self.assertIn("hides nothing of teachers that promise nothing", c._repr_html_())

    def test_plans(self):
        p = darrm.plan(K=9, num_classes=3, queries=20, **WITHIN)
        self.assertEqual([b.value for b in p.plot().marks], [100 * c["agreement"] for c in p["choices"]])
        sizes = darrm.plan(compare_K=[5, 15], affected=1, budget_eps=5, budget_delta=0, queries=5)
        best, wanted = sizes.plot().marks
        self.assertEqual(best.points, [(r["k"], 100 * r["agreement"]) for r in sizes.rows])
        self.assertEqual({y for _, y in wanted.points}, {90})

    def test_costs(self):
        a = darrm.account(K=9, label_eps=0.1, eps="inf", affected=1, queries=[1, 10, 100])
        self.assertEqual(a.plot().marks[0].points, [(r["queries"], r["epsilon"]) for r in a.rows])
        self.assertIn("100", texts(a.plot().svg))

    def test_others_have_rows_and_no_picture(self):
        look = darrm.describe(VOTES)
        with self.assertRaisesRegex(TypeError, "none of them"):
            look.plot()
        self.assertEqual(look._repr_html_().count("<tr>"), 1 + len(look.rows))

    def test_nothing_is_shown_below_its_cost(self):
        for value in (0.1, 1 / 3, 2.00000001, 123456.7, 1e-9, 2.99997e-05, 5):
            self.assertGreaterEqual(float(_shown.cost(value)), value)
            self.assertLess(float(_shown.cost(value)), value * 1.00001)


class Drawing(unittest.TestCase):
    def test_names_are_text(self):
        """A name in a class of the user's stays text, in the picture and beside it."""
        p = _pictures.Picture("<b>&", "x", "y", [_pictures.Bar('<i>"', 1.0)])
        self.assertEqual([t for t in texts(p.svg) if "<" in t], ["<b>&", '<i>"'])
        html = _shown.html("teachers", {}, [{"<i>": "<script>"}])
        self.assertNotIn("<script>", html)
        self.assertNotIn("<i>", html)

    def test_nothing_leaves_the_page(self):
        """Texts are inside the picture, by the width of a letter, and names of lines do not lie on each other."""
        for result in (darrm.solve(K=11, m=3), darrm.compare(VOTES, **WITHIN), darrm.solve(num_classes=3, K=7, affected=1, label_eps=1)):
            root = ElementTree.fromstring(result.plot().svg)
            width, height = map(float, root.get("viewBox").split()[2:])
            beside = []
            for e in root.iter(SVG + "text"):
                if e.get("transform"):
                    continue
                long = 6.6 * len(e.text)
                x = float(e.get("x")) - {"start": 0, "middle": long / 2, "end": long}[e.get("text-anchor")]
                self.assertGreaterEqual(x, 0, e.text)
                self.assertLessEqual(x + long, width, e.text)
                self.assertTrue(0 < float(e.get("y")) < height)
                beside.append((e.get("x"), float(e.get("y"))))
            self.assertEqual(len(beside), len(set(beside)))

    def test_apart(self):
        self.assertEqual(_pictures.apart([5, 5, 5], 2, 0, 10), [5, 7, 9])

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gamma.svg"
            darrm.solve(K=3, m=1, eps=1, teacher_delta=0).plot().save(path)
            text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertIsNone(re.search(r"(href|src)=", text))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_matplotlib(self):
        """Axes are those that are given, or new ones where pyplot is imported, with the same figures."""
        code = """
import darrm
t = darrm.solve(K=11, m=3)
assert isinstance(t.plot(), darrm.Picture)
import matplotlib; matplotlib.use("agg")
import matplotlib.pyplot as plt
ax = t.plot()
assert [list(l.get_ydata()) for l in ax.lines] == [t.gamma], ax.lines
mine = plt.subplots()[1]
assert t.plot(mine) is mine and mine.get_title() == ax.get_title() != ""
c = darrm.compare([[1, 1, 0], [0, 0, 0]], label_eps=1, data="disjoint")
shares = [100 * r["score.agreement"] for r in c.rows if "score.agreement" in r] + [100 * c["always"]["agreement"]]
bars = c.plot().patches
assert [b.get_width() for b in bars] == shares
tex = chr(36) + "frac" + chr(36)
strange = darrm.compare([[tex, tex, "b"]] * 2, classes=["b", tex], label_eps=1, data="disjoint").plot()
strange.figure.canvas.draw()
assert strange.get_yticklabels()[-1].get_text() == "always " + chr(92) + chr(36) + "frac" + chr(92) + chr(36)
a = darrm.account(K=9, label_eps=0.1, eps="inf", affected=1, queries=[1, 100]).plot()
assert a.get_xscale() == "log"
"""
        environment = dict(os.environ)
        if not os.environ.get("DARRM_INSTALLED"):
            environment["PYTHONPATH"] = str(Path(__file__).parents[1])
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
