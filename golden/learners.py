"""Smallest values of the objectives of linear models, and their predictions, by scikit-learn: crates/suite/tests/suite/losses.rs reads what this prints.

    python golden/learners.py > golden/learners.json        (needs scikit-learn)

Rows of four columns with weights; the value of each fit is computed here from its coefficients, in the words of the library: (1/Σw) Σ w·loss + λ‖c‖², and, for margins, (1/Σw) Σ w·loss + λ(‖c‖² + b²).
scikit-learn's C is 1/(2λΣw), its alpha λΣw for ridge and Huber. QuantileRegressor has another penalty: it is asked for none.
"""

import json

import numpy as np
from sklearn.linear_model import HuberRegressor, LogisticRegression, QuantileRegressor, Ridge
from sklearn.svm import SVR, LinearSVC

N = 120


def rounded(values):
    return np.round(values, 6)


def data():
    chance = np.random.default_rng(5)
    x = rounded(chance.normal(size=(N, 4)) * [1, 3, 0.5, 1])
    weights = chance.integers(1, 4, size=N).astype(float)
    numbers = rounded(3 + x @ [1, -0.5, 2, 0] + chance.standard_t(2, size=N))
    score = x @ [1, 0.7, -1, 0.2] + chance.normal(size=N)
    two = (score > 0).astype(int)
    three = (score > -0.7).astype(int) + (score > 0.9)
    return x, weights, numbers, two, three


def value(x, weights, lam, losses, coefficients, intercepts=None):
    penalty = np.sum(np.square(coefficients)) + (0 if intercepts is None else np.sum(np.square(intercepts)))
    return float(np.sum(weights * losses) / weights.sum() + lam * penalty)


def main():
    x, weights, numbers, two, three = data()
    total = weights.sum()
    cases = []

    def case(loss, target, lam, objective, scores):
        cases.append({"loss": loss, "target": target, "lambda": lam, "objective": objective, "scores": np.asarray(scores).reshape(N, -1).tolist()})

    for lam in (1e-3, 0.1):
        C = 1 / (2 * lam * total)
        fit = Ridge(alpha=lam * total).fit(x, numbers, sample_weight=weights)
        case("squares", "numbers", lam, value(x, weights, lam, (numbers - fit.predict(x)) ** 2, fit.coef_), fit.predict(x))
        for name, y in (("two", two), ("three", three)):
            fit = LogisticRegression(C=C, solver="newton-cg", tol=1e-12, max_iter=10_000).fit(x, y, sample_weight=weights)
            scores = fit.decision_function(x)
            losses = -fit.predict_log_proba(x)[np.arange(N), y]
            case("logistic", name, lam, value(x, weights, lam, losses, fit.coef_), scores)
            for loss, power in (("squared_hinge", 2), ("hinge", 1)):
                fit = LinearSVC(C=C, loss=loss, dual=True, tol=1e-10, max_iter=1_000_000, random_state=0).fit(x, y, sample_weight=weights)
                scores = fit.decision_function(x).reshape(N, -1)
                signs = np.where(y[:, None] == (np.arange(3) if scores.shape[1] > 1 else [1]), 1, -1)
                losses = np.maximum(0, 1 - signs * scores) ** power
                case(loss, name, lam, value(x, weights, lam, losses.sum(axis=1), fit.coef_, fit.intercept_), scores)
        fit = SVR(kernel="linear", C=C, epsilon=0.3, tol=1e-10).fit(x, numbers, sample_weight=weights)
        losses = np.maximum(0, np.abs(numbers - fit.predict(x)) - 0.3)
        case("insensitive(epsilon=0.3)", "numbers", lam, value(x, weights, lam, losses, fit.coef_), fit.predict(x))
        fit = HuberRegressor(epsilon=1.35, alpha=lam * total, tol=1e-12, max_iter=100_000).fit(x, numbers, sample_weight=weights)
        u = np.abs(numbers - fit.predict(x)) / fit.scale_
        losses = fit.scale_ * (1 + np.where(u < 1.35, u**2, 2 * 1.35 * u - 1.35**2))
        case("huber(epsilon=1.35)", "numbers", lam, value(x, weights, lam, losses, fit.coef_), fit.predict(x))
    for level in (0.5, 0.9):
        fit = QuantileRegressor(quantile=level, alpha=0).fit(x, numbers, sample_weight=weights)
        r = numbers - fit.predict(x)
        case(f"quantile(level={level})", "numbers", 0.0, value(x, weights, 0.0, np.maximum(level * r, (level - 1) * r), fit.coef_), fit.predict(x))
    print(json.dumps({"rows": x.tolist(), "weights": weights.tolist(), "numbers": numbers.tolist(), "two": two.tolist(), "three": three.tolist(), "cases": cases}))


if __name__ == "__main__":
    main()
