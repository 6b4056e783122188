"""Expected eigenvalues, Cholesky factors and products from LAPACK: crates/core/src/linalg reads what this prints.

    python golden/linalg.py > golden/linalg.json        (needs NumPy)

Matrices are quotients of small integers, which both sides divide alike. Values are printed to 17 digits; LAPACK's error is about n·2⁻⁵³·‖A‖.
"""

import json

import numpy as np

FORMULAS = {
    "hilbert": lambda i, j: 1 / (1 + i + j),
    "distance": lambda i, j: 1 / (1 + abs(i - j)),
    "residue": lambda i, j: ((i * j) % 17 - 8) / 17,
    "least": lambda i, j: (1 + np.minimum(i, j)) / 64,
}


def matrix(name, n):
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    return FORMULAS[name](i, j).astype(float)


cases = []
for name in FORMULAS:
    for n in (3, 31, 100, 200):
        a = matrix(name, n)
        shifted = a + n * np.eye(n)
        other = matrix("residue", n)
        weights = 1 + np.add.outer(np.arange(n), 2 * np.arange(n)) % 5
        cases.append({
            "formula": name,
            "size": n,
            "eigenvalues": np.linalg.eigvalsh(a)[::-1].tolist(),
            "last_row_of_cholesky": np.linalg.cholesky(shifted)[-1].tolist(),
            "weighted_sum_of_product": float((weights * (a @ other)).sum()),
        })
print(json.dumps(cases, indent=0))
