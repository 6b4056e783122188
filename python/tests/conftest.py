"""Numbers that the tests share."""

import os

# scikit-learn's check of array-API inputs runs only where SciPy was asked for it, before it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402


def pytest_sessionfinish(session, exitstatus):
    """A user's machine may lack what a test needs; the gate's may not."""
    report = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("BOCHNER_GATE") and report and report.stats.get("skipped"):
        session.exitstatus = 1


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def waves(rng):
    """300 rows of 3 columns with a smooth target and noise."""
    X = rng.normal(size=(300, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=300)
    return X, y


@pytest.fixture
def rings(rng):
    """300 rows of 2 columns in three classes by distance from zero."""
    X = rng.normal(size=(300, 2))
    y = np.digitize(np.linalg.norm(X, axis=1), [0.8, 1.6])
    return X, y
