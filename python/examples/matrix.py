# %% [markdown]
# # Private labels from a matrix of weak votes
#
# A hundred wards sort notes into routine (0) and urgent (1), each by a rule that was fitted to the
# ward's own patients. A rule answers where it applies and is silent elsewhere: a matrix with a
# row for each note, a column for each rule, and -1 for silence, as Snorkel and its kin have it.
#
# Two things first. Rules that somebody wrote down without looking at records tell of nobody:
# their labels need no noise, and no darrm. And what is protected are the records that rules were
# fitted to, not the notes: whoever gives the notes to the wards shows them.
#
# The matrix is simulated, so that this runs in seconds.

# %%
import numpy as np

import darrm

WARDS, NOTES, SILENT = 100, 150, -1
rng = np.random.default_rng(7)
truth = rng.integers(0, 2, NOTES)
hard = rng.uniform(0.6, 1, (NOTES, 1))  # how often a rule is right on this note
right = rng.random((NOTES, WARDS)) < hard
applies = rng.random((NOTES, WARDS)) < 0.7
matrix = np.where(applies, np.where(right, truth[:, None], 1 - truth[:, None]), SILENT)
print(f"{NOTES} notes, {WARDS} rules, {100 * np.mean(matrix == SILENT):.0f} % silent")

# %% [markdown]
# ## The labels
#
# No patient is in two wards (`data="disjoint"`): one record changes one column. All labels
# together may cost ε = 3, δ = 1e-6. With `missing="abstain"`, -1 is silence, which like a vote is
# one column's answer. The plan is made for 150 notes and 100 rules, not by the matrix.

# %%
vote = darrm.PrivateVote(budget_eps=3, budget_delta=1e-6, data="disjoint", missing="abstain")
labels = vote.predict(matrix)
print(f"{len(labels)} labels, together ({vote.cost['epsilon']:g}, {vote.cost['delta']:g})")
print("the same matrix has the same labels:", np.array_equal(labels, vote.predict(matrix)))
try:
    vote.predict(matrix[:100])
except darrm.BudgetError as e:
    print("another matrix is refused:", e.kind)

# %% [markdown]
# ## What they are worth
#
# For whoever has the matrix and the truth; not private. The labels are public, and so is
# whatever is trained on them: a model of the notes costs nothing more.

# %%
majority = (np.sum(matrix == 1, axis=1) > np.sum(matrix == 0, axis=1)).astype(int)
print(f"majority, no noise: right {100 * np.mean(majority == truth):.1f} %")
print(f"labels: right {100 * np.mean(labels == truth):.1f} %")
