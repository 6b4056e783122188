"""Large results get their memory back from earlier ones, and never while somebody looks at it."""

import gc

import numpy as np
import pytest

from bochner import FourierFeatures, _memory


@pytest.fixture
def small_blocks(monkeypatch):
    """Everything from 1 MiB on counts as large."""
    monkeypatch.setattr(_memory, "LARGE", 1 << 20)
    _memory._kept.clear()
    yield
    _memory._kept.clear()


pytestmark = pytest.mark.skipif(not _memory.CAN_OFFER, reason="this system cannot offer memory back")


def test_memory_that_nobody_holds_is_used_again(small_blocks):
    first = _memory.empty(1000, 300, np.float64)
    address = first.ctypes.data
    first[:] = 7
    del first
    gc.collect()
    second = _memory.empty(900, 300, np.float64)
    assert second.ctypes.data == address and second.shape == (900, 300)
    assert second.flags.writeable and second.flags.c_contiguous


def test_a_view_keeps_its_memory(small_blocks):
    whole = _memory.empty(1000, 300, np.float64)
    whole[:] = 7
    view = whole[10:20, ::3]
    del whole
    gc.collect()
    other = _memory.empty(1000, 300, np.float64)
    other[:] = 8
    assert (view == 7).all()


def test_much_smaller_results_do_not_hold_on_to_a_large_block(small_blocks):
    large = _memory.empty(4000, 300, np.float64)
    del large
    gc.collect()
    small = _memory.empty(1000, 300, np.float64)
    assert small.nbytes == 1000 * 300 * 8 and not _memory._kept


def test_results_do_not_change_when_memory_is_used_again(small_blocks, rng):
    X = rng.normal(size=(2000, 5)).astype(np.float32)
    features = FourierFeatures(n_components=512, random_state=0).fit(X)
    first = features.transform(X).copy()
    for _ in range(3):
        assert (features.transform(X) == first).all()
    assert np.array_equal(features.transform(X[:50]), first[:50])
