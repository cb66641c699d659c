"""A model that learns from private labels of nine clinics, in scikit-learn's hands.

It makes up votes of nine teachers on a pool of public queries, has them labelled within one budget, and trains a model
on the labels that knows their law. It needs scikit-learn. With PyTorch the loss would be, and this line is untested:

    loss = torch.nn.functional.cross_entropy(law.beta * law.k * torch.softmax(model(x), 1), y)
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import darrm

# %%
rng = np.random.default_rng(7)
truth = rng.integers(0, 2, 3000)
features = 10 + 5 * (rng.standard_normal((3000, 4)) + np.where(truth == 1, 0.7, -0.7)[:, None])
votes = (features.sum(1)[:, None] - 40 + 10 * rng.standard_normal((3000, 9)) > 0).astype(int)
pool, test = slice(0, 400), slice(400, 3000)

# %%
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "votes.csv")
    np.savetxt(path, votes[pool], fmt="%d", delimiter=",")
    law_file, labels_file = Path(folder, "law.json"), Path(folder, "labels.csv")
    darrm.run(
        "aggregate", str(path), "--K", "9", "--budget-eps", "9", "--budget-delta", "1e-6", "--data", "disjoint",
        "--label-law", str(law_file), "--out", str(labels_file),
    )
    law = darrm.LabelLaw(law_file)
    labels = [line.split(",")[1] for line in labels_file.read_text().splitlines()[1:]]

# %%
student = make_pipeline(StandardScaler(), darrm.Student(law, l2=10)).fit(features[pool], labels)
print(f"{len(labels)} labels, worth {law.worth:.1f} without noise")
print(f"student: right in {student.score(features[test], truth[test]):.1%}")
majority = (2 * votes[test].sum(1) > 9).astype(int)
print(f"majority of the teachers: right in {np.mean(majority == truth[test]):.1%}")
