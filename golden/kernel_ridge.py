"""Expected predictions of kernel ridge from scikit-learn: crates/suite/tests/suite/exact_ridge.rs reads what this prints.

    python golden/kernel_ridge.py > golden/kernel_ridge.json        (needs scikit-learn)

Rows, targets and weights are short decimals that both sides read alike. scikit-learn minimises Σ wᵢ(yᵢ - f(xᵢ))² + alpha ‖f‖² without an intercept, so
alpha = λ Σw. Predictions are rounded to 12 digits, which is beyond what either side owes.
"""

import json

import numpy as np
from sklearn.kernel_ridge import KernelRidge

KERNELS = {
    "gaussian(gamma=0.3)": {"kernel": "rbf", "gamma": 0.3},
    "laplace(gamma=0.5)": {"kernel": "laplacian", "gamma": 0.5},
    "linear": {"kernel": "linear"},
    "poly(degree=3,gamma=0.5,c=1)": {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1},
}

rng = np.random.default_rng(7)
X, new = rng.normal(size=(12, 3)).round(2), rng.normal(size=(4, 3)).round(2)
Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 2] ** 2]).round(2)
weights = (rng.integers(1, 9, size=12) / 4).tolist()

cases = []
for text, words in KERNELS.items():
    for alpha in (0.01, 1.0):
        for w in (None, weights):
            found = KernelRidge(alpha=alpha, **words).fit(X, Y, sample_weight=w).predict(new)
            rounded = [[float(f"{v:.12g}") for v in row] for row in found]
            cases.append({"kernel": text, "alpha": alpha, "weighted": w is not None, "predictions": rounded})
print(json.dumps({"rows": X.tolist(), "targets": Y.tolist(), "weights": weights, "new": new.tolist(), "cases": cases}, indent=0))
