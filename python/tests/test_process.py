"""Signals, threads and processes."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bochner import FourierFeatures, KernelClassifier, KernelRegressor, LandmarkFeatures

LONG = """
    import sys, time
    import numpy as np
    from bochner import FourierFeatures, KernelRegressor, LandmarkFeatures
    X = np.random.default_rng(0).normal(size=(400_000, 10)).astype(np.float32)
    y = X[:, 0]
    model = KernelRegressor(sigma=3.0, n_components=2048, regularization=1e-3).fit(X[:1000], y[:1000])
    print("ready", flush=True)
    try:
        {work}
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
        np.testing.assert_allclose(model.predict(X[:5]), model.predict(X[:10])[:5])  # and life goes on
        sys.exit(17)
    print("finished", flush=True)
"""

WORK = {
    "fit": "KernelRegressor(n_components=2048).fit(X, y)",
    "cross-validation": "KernelRegressor(sigma=3.0, n_components=4096).fit(X[:4000], y[:4000])",
    "landmarks": "LandmarkFeatures(n_components=6000).fit(X[:20_000].astype(float))",
    "predict": "[model.predict(X) for _ in range(100)]",
    "transform": "[FourierFeatures(n_components=512, n_jobs=1).fit_transform(X) for _ in range(100)]",
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_is_heard(work):
    script = textwrap.dedent(LONG).format(work=WORK[work])
    # Where the tests run in the background the signal is ignored, and Python leaves that so.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heed) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep({"cross-validation": 2.5, "landmarks": 2.0}.get(work, 0.7))
            sent = time.time()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 17, out
    heard = float(out.split()[1])
    assert heard - sent < 2.0, f"heard after {heard - sent:.2f} s"


def test_other_threads_run_during_a_fit(rng):
    X = rng.normal(size=(40_000, 10))
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    KernelRegressor(sigma=3.0, n_components=1024, regularization=1e-3, n_jobs=1).fit(X, X[:, 0])
    end = time.perf_counter()
    done.set()
    ticker.join()
    during = sum(start < t < end for t in ticks)
    assert during > (end - start) / 0.002 / 20, f"{during} ticks in {end - start:.2f} s"


def work_in_child(model, X, expected):
    """Predicts with the parent's model and fits one of its own."""
    np.testing.assert_array_equal(model.predict(X), expected)
    FourierFeatures(n_components=64).fit_transform(X)
    KernelRegressor(n_components=64).fit(X, X[:, 0])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_child_works(waves):
    X, y = waves
    model = KernelRegressor(n_components=64).fit(X, y)
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=work_in_child, args=(model, X, model.predict(X))) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(timeout=60)
        if child.exitcode is None:
            child.kill()
        assert child.exitcode == 0


def test_eight_threads_at_once(rng):
    X = rng.normal(size=(5000, 6))
    y = X[:, 0] > 0
    estimators = [
        KernelClassifier(n_components=64).fit(X, y).decision_function,
        LandmarkFeatures(n_components=50, random_state=0).fit(X).transform,
        FourierFeatures(random_state=0).fit(X).transform,
    ]
    for function in estimators:
        expected = function(X)
        with ThreadPoolExecutor(8) as pool:
            for result in pool.map(function, [X] * 16):
                np.testing.assert_array_equal(result, expected)


def test_fits_in_threads_agree(waves):
    X, y = waves
    expected = KernelRegressor(n_components=64).fit(X, y)._model.to_bytes()
    with ThreadPoolExecutor(4) as pool:
        models = pool.map(lambda _: KernelRegressor(n_components=64).fit(X, y), range(8))
        assert {model._model.to_bytes() for model in models} == {expected}
