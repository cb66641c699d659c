# %% [markdown]
# # Private labels from fifty prompts of a language model
#
# A shop wants its customers' mail sorted into four classes, to train a small model that it can
# publish. It asks one language model through K = 50 prompts. Each prompt shows examples from
# the mail of other customers: no customer's mail is in two prompts. A prompt promises nothing,
# since a model may repeat what it was shown; so the labels need noise.
#
# The votes are simulated, so that this runs without a model in seconds. Every step after that
# is what you would do with real ones.

# %%
import math
import os
import random
import tempfile

import darrm

K, QUERIES = 50, 200
CLASSES = ["billing", "delivery", "returns", "technical"]


# %% [markdown]
# ## The votes
#
# What is assumed, and why. No figure is fitted to a model: each stands for an effect that
# makes votes of prompts unlike coins, and is large enough to be seen.
#
# - **Classes are not equally frequent**: 40, 30, 20 and 10 %.
# - **Difficulty per query**, z ~ N(0,1), the same for all prompts: they ask one model, and what
#   it does not understand it does not understand in any prompt. Its weight, 2 on the logit
#   scale, is most of the variance, so errors of prompts are correlated.
# - **Quality per prompt**, u ~ N(0,1) with weight 0.5: examples help more or less.
# - **Confusion per class**: a wrong prompt answers by its class's row below; returns look like
#   delivery, and technical mail like returns.
# - **A shared lure**: for each query one wrong class is drawn by that row, and three of four
#   wrong votes go there. Without it wrong votes would spread, and plurality would be too good.
# - **Average prompt**: logit -1.4, so that a usual prompt is wrong on 20 % of usual queries.


# %%
FREQUENCY = [0.4, 0.3, 0.2, 0.1]
CONFUSION = {  # of the wrong answers to a class, how many are which
    "billing": {"delivery": 0.3, "returns": 0.5, "technical": 0.2},
    "delivery": {"billing": 0.2, "returns": 0.7, "technical": 0.1},
    "returns": {"billing": 0.2, "delivery": 0.6, "technical": 0.2},
    "technical": {"billing": 0.2, "delivery": 0.2, "returns": 0.6},
}


def simulate(rng):
    """Votes, a row for each query, and the true classes."""
    quality = [rng.gauss(0, 1) for _ in range(K)]
    votes, truth = [], []
    for _ in range(QUERIES):
        true = rng.choices(CLASSES, FREQUENCY)[0]
        wrong, how_often = list(CONFUSION[true]), list(CONFUSION[true].values())
        difficulty, lure = rng.gauss(0, 1), rng.choices(wrong, how_often)[0]
        row = []
        for u in quality:
            p_wrong = 1 / (1 + math.exp(1.4 - 2 * difficulty + 0.5 * u))
            if rng.random() >= p_wrong:
                row.append(true)
            elif rng.random() < 0.75:
                row.append(lure)
            else:
                row.append(rng.choices(wrong, how_often)[0])
        votes.append(row)
        truth.append(true)
    return votes, truth


votes, truth = simulate(random.Random(2024))

# %% [markdown]
# ## A look at the votes
#
# For the owner's eyes only: these figures are computed from the raw votes. The plurality is
# the label without noise. It is the yardstick here and may not be released.

# %%
look = darrm.describe(votes, classes=CLASSES)


def plurality(row):
    return max(CLASSES, key=row.count)  # the first of equals


noiseless = [plurality(row) for row in votes]


def share(a, b):
    return 100 * sum(x == y for x, y in zip(a, b)) / len(a)


ahead = [sorted(map(row.count, CLASSES))[-1] - sorted(map(row.count, CLASSES))[-2] for row in votes]
single = sum(share([row[k] for row in votes], truth) for k in range(K)) / K
print(f"{look['queries']} queries, {look['k']} prompts, {look['classes']}")
print(f"prompts agree with the plurality in {100 * look['agreement']:.1f} % of their votes")
print(f"a single prompt is right in {single:.1f} %, the plurality in {share(noiseless, truth):.1f} %")
close, clear = sum(a < 10 for a in ahead), sum(a >= 30 for a in ahead)
print(f"the plurality is ahead by less than 10 votes in {close} queries, by 30 or more in {clear}")

# %% [markdown]
# ## From a budget to a mechanism
#
# All labels together may cost ε = 8, δ = 1e-6. The plan sees no votes: a choice made by
# looking at private votes would tell about them.

# %%
BUDGET = {"eps": 8, "delta": 1e-6}
PROMPTS = {"eps": "inf", "affected": 1}  # they promise nothing; a customer is in one of them

plan = darrm.plan(
    K=K, classes=CLASSES, queries=QUERIES, budget_eps=BUDGET["eps"], budget_delta=BUDGET["delta"], **PROMPTS
)
for choice in plan["choices"]:
    cost, agrees = choice["per_label"], 100 * choice["agreement"]
    of = "all labels" if choice.get("answers") else "one label "
    print(f"{choice['title']:24} {of} ({cost['epsilon']:g}, {cost['delta']:g})  expected agreement {agrees:.0f} %")

# %% [markdown]
# Fewer labels from the same budget are better labels.

# %%
for queries in (100, 50):
    few = darrm.plan(
        K=K, classes=CLASSES, queries=queries, budget_eps=BUDGET["eps"], budget_delta=BUDGET["delta"], **PROMPTS
    )
    best = few["choices"][0]
    print(f"{queries} labels: {best['title']}, expected agreement {100 * best['agreement']:.0f} %")

# %% [markdown]
# ## The release
#
# The first choice is a table that is made for all 200 labels together. The ledger is charged before a
# label is drawn. `plan.options` are the budget and what is stated of the prompts: `aggregate` makes the
# same plan again, by the number of queries and never by these votes.

# %%
folder = tempfile.TemporaryDirectory()
ledger = darrm.Ledger.create(os.path.join(folder.name, "mail.ledger"), **BUDGET)
released = darrm.aggregate(votes, **plan.options, ledger=ledger, request_id="first 200 mails")
print(len(released.labels), "labels; private:", released.private)

# %% [markdown]
# ## The bill
#
# It can be shown to anybody: nothing in it was computed from votes.

# %%
for row in ledger.history().rows:
    if row["kind"] == "charge" and "quota.answers" in row:
        print(f"a table: {row['quota.taken']} of {row['quota.answers']} labels taken, {row['event.rule']}")
    elif row["kind"] == "charge":
        print(f"{row['request']}: {row['event.queries']} labels of {row['event.mechanism']}, paid by the table")
    if row["kind"] == "charge":
        print(f"  cost ({row['total.epsilon']:.4g}, {row['total.delta']:.4g})")
left = ledger.show()["remaining"]
print(f"left of the budget: ({left['epsilon']:.2g}, {left['delta']:.2g})")
try:
    darrm.aggregate(votes[:1], **plan.options, ledger=ledger, request_id="one more")
except darrm.BudgetError as e:
    print("one more label is refused:", e.kind)

# %% [markdown]
# ## What the labels are worth
#
# The labels are drawn anew in each run, so these figures move by a few points; the promise
# does not. As with the look above: whoever has the votes and the truth may see this, nobody else.

# %%
print(f"plurality, no noise: right {share(noiseless, truth):.1f} %")
answered = [[*row, true] for row, true in zip(votes, truth)]
for choice in plan["choices"][1:]:  # each as dear as the budget allows for all labels
    cost = choice["per_label"]
    figures = darrm.compare(
        answered, classes=CLASSES, label_column=K + 1, label_eps=cost["epsilon"], delta=cost["delta"],
        concentration=plan["prior_concentration"], **PROMPTS,
    )
    row = next(r for r in figures.rows if r["mechanism"] == choice["mechanism"])
    agrees, right = 100 * row["score.agreement"], 100 * row["score.accuracy"]
    print(f"{choice['title']:22} noise averaged out: agrees {agrees:.1f} %, right {right:.1f} %")
print(f"released labels: agree {share(released.labels, noiseless):.1f} %, right {share(released.labels, truth):.1f} %")
for least, most in ((0, 9), (10, 29), (30, 50)):
    chosen = [i for i, a in enumerate(ahead) if least <= a <= most]
    kept = share([released.labels[i] for i in chosen], [noiseless[i] for i in chosen])
    right = share([noiseless[i] for i in chosen], [truth[i] for i in chosen])
    print(f"  plurality ahead by {least} to {most}: {len(chosen)} queries, right in {right:.0f} %; {kept:.0f} % kept")
folder.cleanup()
