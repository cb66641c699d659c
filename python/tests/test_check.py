"""The second checker against tables that are right, and against ones that are wrong in one thing."""

import contextlib
import copy
import io
import itertools
import json
import math
import os
import random
import sys
import unittest
from fractions import Fraction
from pathlib import Path

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
from darrm import _answers as answers  # noqa: E402
from darrm import _joined as joined  # noqa: E402
from darrm import _noise as noise  # noqa: E402
from darrm import check as module  # noqa: E402
from darrm.check import CheckError, check, main  # noqa: E402

#: solve --K 5 --m 2 --teacher-delta 1e-5, written by the program.
TABLES = Path(__file__).parent / "tables"


def table(name):
    return module.load(str(TABLES / name))


class RightTables(unittest.TestCase):
    def test_right(self):
        for path in sorted(TABLES.glob("*.json")):
            with self.subTest(path.name):
                v = check(str(path))
                self.assertTrue(v.private)
                self.assertTrue(v.optimal)
                t = table(path.name)
                self.assertEqual(v.constraints, t["certificate"]["constraints"])
                self.assertAlmostEqual(v.error, float(t["expected_error"]), places=14)

    def test_known_optimum(self):
        """K = 11, m = 3 (the literature's example): 31,824 constraints, error 0.041269485245."""
        v = check(str(TABLES / "k11.json"))
        self.assertEqual(v.constraints, 31824)
        self.assertAlmostEqual(v.error, 0.041269485245, places=11)


class Lattice(unittest.TestCase):
    def test_masses_at_and_beside_its_points(self):
        """A mass goes to the points around its ratio, however near to one it is, and the mean ratio is no larger."""
        for n in (1, 7, 1000):
            lattice = answers._Lattice(n)
            for j in (-40, -3, -1, 0, 1, 2, 55):
                exact = Fraction(n + 1, n) ** j
                for r in (exact, exact * (1 - Fraction(1, 2**200)), exact * (1 + Fraction(1, 2**200)), exact * Fraction(2 * n + 1, 2 * n)):
                    with self.subTest(n=n, j=j, r=float(r)):
                        (low, a), (high, b) = lattice.split(Fraction(1, 3), r)
                        self.assertEqual(high, low + 1)
                        self.assertLessEqual(Fraction(n + 1, n) ** low, r)
                        # points are known to 2^-_FINE: a ratio just below one may be taken for it, never the other way round
                        self.assertGreater(Fraction(n + 1, n) ** high * (1 + Fraction(1, 2**100)), r)
                        self.assertGreaterEqual(min(a, b), 0)
                        self.assertGreaterEqual(a + b, Fraction(1, 3) * 2**answers._UNIT)
                        mean = (a * Fraction(n + 1, n) ** low + b * Fraction(n + 1, n) ** high) / (a + b)
                        self.assertLessEqual(mean, r)


class EveryCorner(unittest.TestCase):
    def test_a_corner_that_alone_decides(self):
        """The worst teachers are two at (b, a), which no other corner stands for."""
        free = [0, Fraction("0.791"), Fraction("0.909"), 0]
        v = check(
            {
                "format_version": 1, "k": 7, "affected": 5, "epsilon": 1, "teacher_delta": 0, "delta": 0, "m": Fraction("1.115"),
                "gamma": free + free[::-1], "shape": "free", "prior_mean": Fraction("0.75"), "certificate": {"gap": 1},
            }
        )
        self.assertFalse(v.private)
        self.assertEqual(v.worst, [5, 0, 0, 0, 0, 0, 0, 2])
        self.assertAlmostEqual(v.excess, 0.003698981495304474, places=12)


class ManyAnswers(unittest.TestCase):
    """Tables for many answers, right and wrong in one thing."""

    def test_right(self):
        paths = sorted((TABLES / "answers").glob("*.json"))
        self.assertEqual(len(paths), 12)
        for path in paths:
            with self.subTest(path.name):
                v = check(str(path))
                self.assertTrue(v.private)
                self.assertIsNone(v.optimal)
                t = module.load(str(path))
                self.assertGreaterEqual(v.excess, -0.03 * float(t["delta"]))  # two prices, by two programs
                self.assertAlmostEqual(1 - v.error, float(t["value"]), places=12)

    def changed(self, name, change):
        t = table("answers/" + name)
        change(t)
        return check(t)

    def test_promises_too_much(self):
        """More answers, a smaller ε or δ, or more records' reach than the masses allow."""
        for field, value in (("answers", 22), ("total_epsilon", Fraction("0.95")), ("delta", Fraction("9e-6")), ("affected", 3)):
            with self.subTest(field):
                self.assertFalse(self.changed("k5t2.json", lambda t: t.update({field: value})).private)

        def less(t):
            t["certificate"]["delta"] = Fraction("9.4e-6")

        self.assertFalse(self.changed("k5t2.json", less).private)

    def test_composed(self):
        """Answers that are composed by what each keeps: nothing may be a little more than is proved."""
        for field, value in (("answers", 4), ("total_epsilon", Fraction("1.19")), ("delta", Fraction("9.9e-6")), ("affected", 3)):
            with self.subTest(field):
                self.assertFalse(self.changed("k6t2e.json", lambda t: t.update({field: value})).private)
        for name, factor in (("each_epsilon", Fraction(999, 1000)), ("each_epsilon", Fraction(1001, 1000)), ("each_epsilon", Fraction(2000))):
            with self.subTest(name, factor=factor):

                def other(t):
                    t["price"][name] *= factor
                    t["law"]["epsilon"] = t["price"]["each_epsilon"]

                try:
                    self.assertFalse(self.changed("k6t2e.json", other).private)
                except CheckError:
                    self.assertEqual(factor, 2000)

        def more(t):
            groups = t["masses"][2]["groups"]
            groups[0], groups[1] = groups[0] + 2**53 // 10**6, groups[1] - 2**53 // 10**6

        self.assertFalse(self.changed("k6t2e.json", more).private)

    def test_masses(self):
        """A hundredth more for the class with the most votes is too much, in every histogram."""
        for name in ("k5t2.json", "k5c3a.json"):
            for i, m in enumerate(table("answers/" + name)["masses"]):
                if len(m["groups"]) - ("abstain" in table("answers/" + name)) < 2:
                    continue

                def more(t):
                    groups = t["masses"][i]["groups"]
                    groups[0], groups[1] = groups[0] + 2**53 // 100, groups[1] - 2**53 // 100

                with self.subTest(name=name, histogram=i):
                    self.assertFalse(self.changed(name, more).private)

    def test_told_apart(self):
        """Each order of the votes has masses of its own, and the value is by the stated shares and costs."""
        for name in ("k4c3-by-name.json",):
            for field, value in (("answers", 5), ("total_epsilon", Fraction("1.9")), ("delta", Fraction("9.9e-5")), ("affected", 3)):
                with self.subTest(name, field=field):
                    self.assertFalse(self.changed(name, lambda t: t.update({field: value})).private)
            t = table("answers/" + name)
            broken = 0
            for i, m in list(enumerate(t["masses"]))[::4]:
                most, other = m["votes"].index(max(m["votes"])), m["votes"].index(min(m["votes"]))

                def more(t):
                    groups = t["masses"][i]["groups"]
                    part = min(2**53 // 50, groups[other])
                    groups[most], groups[other] = groups[most] + part, groups[other] - part

                broken += not self.changed(name, more).private
            self.assertGreater(broken, 1)
            for change in (
                lambda t: t.update(shares=t["shares"][1:] + t["shares"][:1]),
                lambda t: t.update(costs=[[5 * (a != b) for a in range(t["classes"])] for b in range(t["classes"])]),
                lambda t: t.update(value=t["value"] + Fraction(1, 10**9)),
            ):
                v = self.changed(name, change)
                self.assertTrue(v.private)
                self.assertIs(v.optimal, False)
            for change in (
                lambda t: t.pop("named"),
                lambda t: t.update(named=1),
                lambda t: t.update(missing_votes=True),
                lambda t: t.update(abstain=Fraction(1, 2)),
                lambda t: t.update(shares=[1]),
                lambda t: t.update(costs=[[1]]),
                lambda t: t["masses"].pop(),
                lambda t: t["masses"][1].update(t["masses"][0]),
                lambda t: t["masses"][0]["groups"].append(0),
                lambda t: t["masses"][0]["groups"].__setitem__(0, 2**53),
                lambda t: t["masses"][0]["votes"].__setitem__(0, 1),
            ):
                with self.assertRaises(CheckError):
                    self.changed(name, change)

    def test_law_of_each(self):
        """What the law says of each answer is what the price states."""
        name = "k5c3-pure.json"
        self.assertTrue(self.changed(name, lambda t: None).private)
        with self.assertRaises(CheckError):
            self.changed(name, lambda t: t["law"].update(epsilon=Fraction("0.01")))

    def test_each_label(self):
        """Each label has masses of its own, of which every pair is in the one price, and the value is their mean."""
        name = "k5-labels.json"
        self.assertTrue(self.changed(name, lambda t: None).private)
        for field, value in (("answers", 5), ("total_epsilon", Fraction("1.9")), ("delta", Fraction("9.9e-5")), ("affected", 2)):
            with self.subTest(field=field):
                self.assertFalse(self.changed(name, lambda t: t.update({field: value})).private)
        for label in range(3):

            def more(t):
                for m in t["masses"]:
                    if m["label"] == label and m["votes"] == [1, 4]:
                        m["groups"] = [m["groups"][0] // 2, 2**53 - m["groups"][0] // 2]

            self.assertFalse(self.changed(name, more).private, label)
        v = self.changed(name, lambda t: t["yes_shares"].reverse())  # 0.1, 0.3, 0.1: the same
        self.assertTrue(v.private and v.optimal is not False)
        for change in (
            lambda t: t.update(yes_shares=t["yes_shares"][1:] + t["yes_shares"][:1]),
            lambda t: t.update(value=t["value"] + Fraction(1, 10**9)),
        ):
            v = self.changed(name, change)
            self.assertTrue(v.private)
            self.assertIs(v.optimal, False)
        for change in (
            lambda t: t.pop("labels"),
            lambda t: t.pop("named"),
            lambda t: t.update(labels=2),
            lambda t: t.update(labels=True),
            lambda t: t.update(shares=[Fraction(1, 2), Fraction(1, 2)]),
            lambda t: t["yes_shares"].pop(),
            lambda t: t["yes_shares"].__setitem__(0, 1),
            lambda t: t["masses"][0].pop("label"),
            lambda t: t["masses"][0].update(label=1),
            lambda t: t["masses"][0].update(label=3),
            lambda t: t["masses"].pop(),
        ):
            with self.assertRaises(CheckError):
                self.changed(name, change)

    def test_certain(self):
        """A class that one histogram excludes is told apart with its whole probability."""
        t = table("answers/k11.json")
        for m in t["masses"][1:]:
            m["groups"] = [2**53, 0]
        self.assertFalse(check(t).private)

    def test_value(self):
        def more(t):
            t["value"] += Fraction(1, 1000)

        self.assertIs(self.changed("k5c3a.json", more).optimal, False)

    def test_brute_force(self):
        """Every way to play three answers, in fractions, without a lattice: never above the price."""
        for name in ("k5t2.json", "k5c3m.json", "k5c3a.json"):
            t = answers.Table(table("answers/" + name), module._decimal)
            t.answers = 3
            laws, _ = t.ratios()
            factor = Fraction(51, 50)

            def play(n, x):
                if n == 0:
                    return max(Fraction(0), 1 - x)
                return max(sum(p * play(n - 1, x * r) if r else p for r, p in law) for law in laws)

            exact = play(2, factor) if len(laws) > 20 else play(3, factor)
            t.answers = 2 if len(laws) > 20 else 3
            t.raw["price"]["step"] = Fraction(1, 50)
            price, _ = answers.price(t, factor, Fraction(1))
            self.assertLessEqual(exact, price)
            self.assertLess(price, exact * Fraction(1002, 1000))

    def test_orders_of_alike_classes(self):
        """One pair for each of the orders of classes with equal votes has all laws of the pairs of all classes."""
        for name in ("k9c3.json", "k5c3m.json", "k5c3a.json"):
            t = answers.Table(table("answers/" + name), module._decimal)
            for t.affected in (1, 2, 3):
                found, _ = t.ratios()
                every = answers._around
                try:
                    answers._around = lambda counts, reach, missing, alike: every(counts, reach, missing)
                    self.assertEqual(found, t.ratios()[0])
                finally:
                    answers._around = every

    def test_joined(self):
        """A law that others are joined in has a curve nowhere below theirs, and at the lattice's points just theirs."""
        random.seed(1)
        unit = 2**96
        for _ in range(200):
            n = random.randint(1, 40)
            b = Fraction(n + 1, n)
            laws = []
            for _ in range(random.randint(1, 6)):
                at = sorted(random.sample(range(-9, 10), random.randint(0, 5)))
                weights = [random.random() + 0.01 for _ in range(len(at) + 1)]
                masses = [int(unit * w / sum(weights)) for w in weights]
                laws.append((list(zip(at, masses)), masses[-1] * random.randint(0, 1)))

            def curve(law, x):
                return law[1] + sum(m * max(Fraction(0), 1 - x * b**j) for j, m in law[0])

            one = joined.joined(laws, n)
            kinks = [j for masses, _ in laws for j, _ in masses] or [0]
            points = [Fraction(0)] + [b**-j for j in range(min(kinks), max(kinks) + 1)]
            for x in points + [b**-12, b**12] + [Fraction(random.randint(1, 400), 100) for _ in range(10)]:
                most = max(curve(law, x) for law in laws)
                self.assertGreaterEqual(curve(one, x), most)
                self.assertGreaterEqual(max(curve(law, x) for law in joined.undominated(laws, n)), most)
                if x in points:
                    self.assertLess(curve(one, x) - most, unit // 10**9)

    def test_fewer_laws(self):
        """Where laws are joined the price is no less, and a file that this does not show to be right is not called wrong."""
        t = answers.Table(table("answers/k9c3.json"), module._decimal)
        t.answers, enough = 5, Fraction(1)
        laws, _ = t.ratios()
        whole, all_of_them = answers._price(t, laws, Fraction(3, 2), 0.08, answers.MAX_WORK)
        self.assertTrue(all_of_them)
        counted = []
        for work in (200_000, 100_000, 50_000):
            price, all_of_them = answers._price(t, laws, Fraction(3, 2), 0.08, work)
            self.assertFalse(all_of_them)
            self.assertGreaterEqual(price, whole * (1 - Fraction(1, 10**20)))
            self.assertLess(price, 3 * whole)
            counted.append(price)
        most = answers.MAX_WORK
        try:
            answers.MAX_WORK = 100_000
            with self.assertRaisesRegex(answers.Malformed, "laws are joined"):
                answers.price(t, Fraction(3, 2), whole / 2)
            answers.MAX_WORK = 1000
            with self.assertRaisesRegex(answers.Malformed, "products"):
                answers.price(t, Fraction(3, 2), enough)
        finally:
            answers.MAX_WORK = most
        self.assertEqual(counted, sorted(counted))

    def test_places(self):
        """Masses stand where they belong and have one name, as the program reads them, and the pairs are counted."""

        def last_first(t):
            t["masses"] = t["masses"][-1:] + t["masses"][:-1]

        for name, other in (("k11.json", "votes"), ("k9c3.json", "lead"), ("k5c3m.json", "label"), ("k5-by-name.json", "label"), ("k5-labels.json", "lead")):
            for change in (last_first, lambda t: t["masses"].reverse(), lambda t: t["masses"][0].update({other: 0})):
                with self.subTest(name), self.assertRaises(CheckError):
                    self.changed(name, change)
        for name in ("k5t2.json", "k5-labels.json"):
            self.assertIs(self.changed(name, lambda t: t["certificate"].update(pairs=t["certificate"]["pairs"] + 1)).optimal, False)

    def test_form(self):
        def drop(t):
            del t["masses"][0]

        def twice(t):
            t["masses"][1] = t["masses"][0]

        def sums(t):
            t["masses"][1]["groups"][0] += 1

        def parity(t):
            t["masses"][1]["lead"] += 1

        def huge(t):
            t["answers"] = 10**6

        for change in (drop, twice, sums, parity, huge, lambda t: t.update(missing_votes=1), lambda t: t.update(delta=0)):
            with self.subTest(change), self.assertRaises(CheckError):
                self.changed("k11.json", change)


class Noise(unittest.TestCase):
    """Noise that is priced by its label, right and wrong in one thing."""

    def test_right(self):
        paths = sorted((TABLES / "noise").glob("*.json"))
        self.assertEqual(len(paths), 6)
        for path in paths:
            with self.subTest(path.name):
                v = check(str(path))
                self.assertTrue(v.private)
                self.assertIsNone(v.optimal)
                # The program knows less of the votes where classes are more than two.
                self.assertGreater(v.excess, -0.5 * float(module.load(str(path))["delta"]))

    def changed(self, name, **changes):
        t = table("noise/" + name)
        t.update(changes)
        return check(t)

    def test_promises_too_much(self):
        """More answers, a smaller ε or δ, more reach, or less noise than the price allows."""
        t = table("noise/k12c3.json")
        for change in (
            {"answers": t["answers"] + 1}, {"total_epsilon": t["total_epsilon"] * Fraction(97, 100)}, {"delta": t["delta"] * Fraction(4, 5)},
            {"sigma": t["sigma"] * Fraction(49, 50)}, {"certificate": {"delta": t["delta"] * Fraction(4, 5)}},
        ):
            with self.subTest(change):
                self.assertFalse(self.changed("k12c3.json", **change).private)
        self.assertFalse(self.changed("k7t3m.json", affected=4, answers=20).private)
        self.assertTrue(self.changed("k7t3m.json", answers=10).private)
        # A vote that comes or goes has neighbours of its own.
        self.assertEqual((self.changed("k6c4m.json", missing_votes=False).constraints, check(table("noise/k6c4m.json")).constraints), (34, 162))

    def test_form(self):
        for change in (
            {"noise": "laplace"}, {"sigma": 0}, {"sigma": 10**6}, {"sigma": "1"}, {"affected": 2}, {"classes": 1}, {"k": 0}, {"k": 1002}, {"classes": 201},
            {"answers": 0}, {"answers": 10**6}, {"missing_votes": 1}, {"delta": 0}, {"delta": Fraction(1, 10**200)}, {"total_epsilon": 701},
            {"certificate": {}}, {"price": 1}, {"format_version": 2}, {"price": {"step": Fraction(1, 10**9)}},
        ):
            with self.subTest(change), self.assertRaises(CheckError):
                self.changed("k12c3.json", **change)

    def test_laws(self):
        """The probabilities of a label against sums over all values of all noise."""
        for sigma, votes in (("0.7", (2, 1, 0)), ("1.3", (2, 2, 1)), ("1.3", (5, 0)), ("0.9", (1, 1, 1, 0))):
            raw = table("noise/k12c3.json")
            raw.update(k=sum(votes), classes=len(votes), sigma=Fraction(sigma))
            n = noise.Noise(raw, module._decimal)
            far = range(-9, 10)
            mass = {y: math.exp(-y * y / 2 / float(sigma) ** 2) for y in far}
            total = sum(mass.values())
            want = [0.0] * len(votes)
            for ys in itertools.product(far, repeat=len(votes)):
                sums = [v + y for v, y in zip(votes, ys)]
                top = [c for c, s in enumerate(sums) if s == max(sums)]
                for c in top:
                    want[c] += math.prod(mass[y] / total for y in ys) / len(top)
            got = n._of(votes)
            self.assertEqual(sum(got), 1)
            for x, y in zip(got, want):
                self.assertAlmostEqual(float(x), y, places=9)

    def test_nodes(self):
        """n nodes integrate powers below 2n, and not the next one."""
        for n in (1, 2, 5, 50):
            for power in (0, 1, 2 * n - 1):
                self.assertAlmostEqual(sum(w * u**power for u, w in noise._nodes(n)) * (power + 1), 1, places=12)
        self.assertNotAlmostEqual(sum(w * u**4 for u, w in noise._nodes(2)) * 5, 1, places=3)


class ManyClasses(unittest.TestCase):
    """Tables of many classes, right and wrong in one thing."""

    def test_right(self):
        paths = sorted((TABLES / "classes").glob("*.json"))
        self.assertEqual(len(paths), 4)
        for path in paths:
            with self.subTest(path.name):
                v = check(str(path))
                self.assertTrue(v.private and v.optimal)
                t = module.load(str(path))
                self.assertAlmostEqual(1 - v.error, float(t["value"]), places=14)
                self.assertAlmostEqual(v.gap, float(t["gap"]), places=12)

    def wrong(self, name, change, private, optimal):
        t = table("classes/" + name)
        change(t)
        v = check(t)
        self.assertEqual((v.private, v.optimal), (private, optimal), vars(v))

    def test_promises_too_much(self):
        for name in ("k7-c3.json", "k6-c3-delta.json", "k3-c3-counts.json"):
            with self.subTest(name):
                t = table("classes/" + name)
                self.wrong(name, lambda t: t.update(total_epsilon=t["total_epsilon"] * Fraction(999, 1000)), False, True)
                if t["affected"] < t["k"]:
                    v = check({**t, "affected": t["affected"] + 1})
                    self.assertFalse(v.private)
        self.wrong("k6-c3-delta.json", lambda t: t.update(delta=Fraction(9, 1000)), False, True)

    def test_one_mass_is_larger(self):
        def change(t):
            groups = t["masses"][-1]["groups"]
            groups[0], groups[1] = groups[0] + 2**40, groups[1] - 2**40

        self.wrong("k3-c3-counts.json", change, False, True)

    def test_gap(self):
        def change(t):
            t["proof"] = t["proof"][1:]

        self.wrong("k7-c3.json", change, True, False)
        self.wrong("k6-c3-delta.json", lambda t: t["proof_pairs"].pop(), True, False)
        self.wrong("k7-c3.json", lambda t: t.update(gap=Fraction(0)), True, False)
        self.wrong("k7-c3.json", lambda t: t.update(accuracy=Fraction(1, 2)), True, False)
        self.wrong("k7-c3-uneven.json", lambda t: t.update(concentration=Fraction(3, 2)), True, False)
        self.wrong("k7-c3-uneven.json", lambda t: t.update(accuracy=Fraction(1, 2), concentration=0), True, False)

    def test_delta_is_spent_by_all_classes(self):
        """Uniform but at (2,2,0,0), where two classes gain .0075 each: .005 beyond e^ε, together .01."""
        masses = []
        for votes in ([1, 1, 1, 1], [2, 1, 1, 0], [2, 2, 0, 0], [3, 1, 0, 0], [4, 0, 0, 0]):
            sizes = [votes.count(v) for v in sorted(set(votes), reverse=True)]
            masses.append({"votes": votes, "groups": [n * 2**51 for n in sizes]})
        moved = 2 * int(0.0075 * 2**53)
        masses[2]["groups"] = [2**52 + moved, 2**52 - moved]
        t = {
            "format_version": 1, "kind": "plurality", "k": 4, "classes": 4, "total_epsilon": Fraction(1, 100),
            "affected": 1, "accuracy": Fraction(1, 2), "gap": 1, "masses": masses, "proof": [],
        }  # fmt: skip
        self.assertFalse(check({**t, "delta": Fraction(7, 1000)}).private)
        self.assertTrue(check({**t, "delta": Fraction(11, 1000)}).private)

    def test_no_table(self):
        for name, change in {
            "a row that is none": lambda t: t["proof"].append([0, 18, Fraction(1, 10)]),
            "a multiplier below 0": lambda t: t["proof"][0].__setitem__(2, Fraction(-1)),
            "masses that do not sum to 1": lambda t: t["masses"][0]["groups"].__setitem__(0, 1),
            "a histogram is missing": lambda t: t["masses"].pop(),
            "no masses": lambda t: t.pop("masses"),
            "another order": lambda t: t["masses"].reverse(),
            "a class too many": lambda t: t.update(classes=4),
            "no prior": lambda t: t.pop("accuracy"),
            "two priors": lambda t: t.update(concentration=1),
            "shares below 0": lambda t: (t.pop("accuracy"), t.update(concentration=-1)),
            "shares that are even": lambda t: (t.pop("accuracy"), t.update(concentration=10**7)),
            "a proof of something else": lambda t: t.update(proof=[[1, 2]]),
            "a multiplier beyond floats": lambda t: t["proof"][0].__setitem__(2, Fraction(10) ** 400),
            "an infinite multiplier": lambda t: t["proof"][0].__setitem__(2, float("inf")),
            "a count below 0": lambda t: (t.pop("accuracy"), t.update(prior_counts=[{"votes": [7, 0, 0], "count": 2}, {"votes": [6, 1, 0], "count": -1}])),
            "counts that are all 0": lambda t: (t.pop("accuracy"), t.update(prior_counts=[{"votes": [7, 0, 0], "count": 0}])),
            "more classes than are listed": lambda t: t.update(classes=1000),
        }.items():
            with self.subTest(name):
                t = table("classes/k7-c3.json")
                change(t)
                with self.assertRaises(CheckError):
                    check(t)


    def test_value_of_abstaining(self):
        """Only in [0,1]: beyond, "at most 1" bounds nothing."""
        t = {
            "format_version": 1, "kind": "plurality", "k": 1, "classes": 2, "total_epsilon": 1, "delta": 0, "affected": 1,
            "accuracy": Fraction(3, 4), "gap": 1, "masses": [{"votes": [1, 0], "groups": [0, 0, 2**53]}], "proof": [],
        }  # fmt: skip
        self.assertTrue(check({**t, "abstain": 1}).optimal)
        for value in (3, Fraction(-1, 2)):
            with self.assertRaises(CheckError):
                check({**t, "abstain": value})


class PostProcessing(unittest.TestCase):
    def reached(self, **change):
        """solve --K 5 --m 1 --eps 0.1 --teacher-delta 0 --affected 1, whose constraints are identities in e^ε."""
        t = {
            "format_version": 1, "k": 5, "m": 1, "epsilon": Fraction(1, 10), "teacher_delta": 0, "delta": 0, "affected": 1,
            "shape": "free", "prior_mean": Fraction(3, 4), "gamma": [1] * 6, "certificate": {"gap": 0}, "proof": [],
        }  # fmt: skip
        return check({**t, **change})

    def test_all_that_is_reached_may_be_published(self):
        d = Fraction(1, 100)
        for change, constraints in (
            ({}, 16),
            ({"affected": 2, "m": 2}, 28),
            ({"affected": 2, "m": 2, "teacher_delta": d, "delta": 1 - (1 - d) ** 2}, 120),
            ({"worst_case": True, "prior_mean": 0}, 16),
        ):
            with self.subTest(change):
                v = self.reached(**change)
                self.assertEqual((v.private, v.optimal, v.method, v.constraints), (True, True, "post-processing", constraints))

    def test_not_quite(self):
        """A little less of ε or δ, or one teacher more: the constraints decide, and one is broken."""
        d = Fraction(1, 100)
        for change in (
            {"m": 1 - Fraction(1, 10**15)},
            {"affected": 2},
            {"teacher_delta": d, "delta": d * (1 - Fraction(1, 10**15))},
        ):
            with self.subTest(change):
                v = self.reached(**change)
                self.assertEqual((v.private, v.method), (False, "sweep"))

    def test_what_cannot_be_drawn(self):
        with self.assertRaisesRegex(CheckError, "no multiple"):
            self.reached(gamma=[Fraction(1, 10)] * 6)

    def test_shape(self):
        with self.assertRaisesRegex(CheckError, "increases"):
            self.reached(shape="monotone", gamma=[0, 1, 1, 1, 1, 0])
        below = [1, 1, Fraction(-1, 2), Fraction(-1, 2), 1, 1]
        self.assertTrue(self.reached(shape="any", gamma=below).private)
        for shape in ("free", "monotone"):
            with self.assertRaisesRegex(CheckError, "below 0"):
                self.reached(shape=shape, gamma=below)


class WrongTables(unittest.TestCase):
    def wrong(self, name, change, private, optimal):
        t = copy.deepcopy(table(name))
        change(t)
        v = check(t)
        self.assertEqual((v.private, v.optimal), (private, optimal))

    def test_more_gamma_than_is_private(self):
        """2⁻⁴⁰ more of one γ breaks a constraint that the optimum uses up."""

        def change(t):
            for i in (1, 4):
                t["gamma"][i] = Fraction(float(t["gamma"][i]) + 2.0**-40)

        self.wrong("k5.json", change, private=False, optimal=True)

    def test_more_of_the_minority_than_is_private(self):
        """γ(2) is below 0, and as low as may be."""

        def change(t):
            for i in (2, 5):
                t["gamma"][i] = Fraction(float(t["gamma"][i]) - 2.0**-30)

        self.assertLess(table("k7-any.json")["gamma"][2], 0)
        self.wrong("k7-any.json", change, private=False, optimal=False)

    def test_what_multipliers_prove_of_a_shape(self):
        """Multipliers that are a little too large prove less of γ in [-1, 1] than of γ ≥ 0."""
        t = table("k7-any.json")
        proof = [{**term, "multiplier": float(term["multiplier"]) * 1.05} for term in t["proof"]]
        of = {shape: check({**t, "gamma": [0] * 8, "proof": proof, "shape": shape}) for shape in ("any", "free")}
        self.assertGreater(of["any"].gap, of["free"].gap + 1e-3)

    def test_label_0_alone(self):
        """Label 1 is as likely on all neighbours as it may be; label 0 is possible on one of two."""
        t = {
            "format_version": 1, "k": 2, "affected": 1, "epsilon": "inf", "teacher_delta": 0, "delta": 0, "total_epsilon": 1, "m": 0,
            "shape": "by-name", "prior_counts": [1, 1, 2], "certificate": {"gap": 1},
        }
        always = check({**t, "gamma": [-1, 1, 1]})
        self.assertTrue(always.private)
        self.assertEqual(float(always.error), 0.25)
        self.assertEqual(float(check({**t, "gamma": [-1, 1, 1], "costs": [9, 2]}).error), 0.5)
        self.assertFalse(check({**t, "gamma": [Fraction(-1, 2), 1, 1]}).private)

    def test_by_name(self):
        """Other costs, a proof of the other label, and labels that another shape does not tell apart."""
        self.wrong("k9-by-name.json", lambda t: t.update(costs=[1, 3]), private=True, optimal=False)
        self.wrong("k9-by-name.json", lambda t: [term.pop("zero", None) for term in t["proof"]], private=True, optimal=False)
        for change in (
            lambda t: t.update(shape="any"),
            lambda t: t.update(costs=[0, 0]),
            lambda t: t.update(prior_counts=None, prior_mean=Fraction(3, 4)),
            lambda t: t["proof"][0].update(zero=2),
        ):
            t = table("k9-by-name.json")
            change(t)
            with self.assertRaises(CheckError):
                check(t)

    def test_smaller_promise(self):
        for name, by in (("delta", Fraction(999999, 10**6)), ("m", Fraction(999999, 10**6))):
            with self.subTest(name):
                self.wrong("k5.json", lambda t, name=name, by=by: t.update({name: t[name] * by}), private=False, optimal=True)

    def test_weaker_teachers(self):
        t = table("k5.json")
        t["total_epsilon"] = t.pop("m") * t["epsilon"]  # the promise stays
        for name in ("epsilon", "teacher_delta"):
            with self.subTest(name):
                v = check({**t, name: t[name] * Fraction(100001, 100000)})
                self.assertFalse(v.private)

    def test_more_reached(self):
        v = check({**table("k5-one-reached.json"), "affected": 2, "proof": []})
        self.assertFalse(v.private)

    def test_not_optimal(self):
        def half(t):
            t["gamma"] = [Fraction(int(g * 2**52), 2**53) for g in t["gamma"]]

        self.wrong("k5.json", half, private=True, optimal=False)

    def test_no_proof(self):
        self.wrong("k5.json", lambda t: t.update(proof=[]), private=True, optimal=False)

    def test_proof_of_what_is_no_constraint(self):
        t = copy.deepcopy(table("k5.json"))
        t["proof"][0]["corners"][0] += 1
        with self.assertRaisesRegex(CheckError, "no constraint"):
            check(t)

    def test_form(self):
        for change, words in (
            ({"k": 16}, "at most 15"),
            ({"k": "5"}, "whole number"),
            ({"format_version": 2}, "format_version"),
            ({"gamma": [1] * 5}, "gamma has 5 values"),
            ({"gamma": [0, 1, 1, 1, 1, 1]}, "same from both ends"),
            ({"shape": "any", "gamma": [-1, 1, Fraction(-9, 8), Fraction(-9, 8), 1, -1]}, "in \\[-1,1\\]"),
            ({"delta": 1}, "in \\[0,1\\)"),
            ({"shape": "round"}, "shape"),
            ({"total_epsilon": 5}, "exclude each other"),
            ({"prior_counts": [1] * 6}, "exclude each other"),
        ):
            with self.subTest(change):
                with self.assertRaisesRegex(CheckError, words):
                    check({**table("k5.json"), **change})


class Arithmetic(unittest.TestCase):
    def test_exp(self):
        """Both ends enclose e^x, 10⁻⁵⁹ apart at most, times e^x."""
        for x in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(50)):
            low, high = module._exp(x, up=False), module._exp(x, up=True)
            self.assertLessEqual(low, high)
            self.assertLessEqual(high - low, Fraction(10) ** -59)
            self.assertAlmostEqual(float(low) / math.exp(x), 1, places=13)
        # e to 65 digits, from the literature.
        e = Fraction("2.71828182845904523536028747135266249775724709369995957496696762772")
        self.assertLess(module._exp(Fraction(1), up=False), e)
        self.assertGreater(module._exp(Fraction(1), up=True), e)


class Command(unittest.TestCase):
    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def test_right(self):
        code, out, _ = self.run_main(str(TABLES / "k5.json"))
        self.assertEqual(code, 0)
        self.assertIn("private: yes: all 792 constraints", out)

    def test_wrong(self):
        t = json.loads((TABLES / "k5.json").read_text())
        t["delta"] = 1e-5
        path = Path(self.enterContext(_folder())) / "wrong.json"
        path.write_text(json.dumps(t))
        code, out, _ = self.run_main(str(path), "--json")
        self.assertEqual(code, 4)
        self.assertFalse(json.loads(out)["private"])

    def test_a_field_twice(self):
        text = (TABLES / "k5.json").read_text()
        for again in ('"gamma": [1, 1, 1, 1, 1, 1],', '"Gamma": [1, 1, 1, 1, 1, 1],'):
            path = Path(self.enterContext(_folder())) / "twice.json"
            path.write_text(text.replace("{", "{" + again, 1))
            code, out, err = self.run_main(str(path))
            self.assertEqual((code, out), (3, ""))
            self.assertIn("appears twice", err)

    def test_no_file(self):
        code, out, err = self.run_main("/nowhere/table.json")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("darrm.check: ", err)


def _folder():
    import tempfile

    return tempfile.TemporaryDirectory()


if __name__ == "__main__":
    unittest.main()
