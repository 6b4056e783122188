"""Memory for large results, kept for the next one.

The system clears every page before it is first written to, which takes longer than computing Fourier features. So the
memory of a large result that nobody holds any more is kept for the next: one block, marked as free, which the system
takes back whenever it needs it. Smaller results come from NumPy, whose allocator recycles them by itself.
"""

from __future__ import annotations

import mmap
import threading
import weakref

import numpy as np

#: Bytes from which memory is taken from the system; NumPy's allocator recycles less than that.
LARGE = 32 << 20

#: Memory can be offered back to the system without losing the right to it.
CAN_OFFER = hasattr(mmap, "MADV_FREE") and hasattr(mmap, "MADV_HUGEPAGE")

#: A finalizer may run while its own thread is inside: hence one that can be entered again.
_lock = threading.RLock()
_kept: list[mmap.mmap] = []


def empty(rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """An array to be written to, as ``numpy.empty`` makes it."""
    dtype = np.dtype(dtype)
    size = rows * columns * dtype.itemsize
    if size < LARGE or not CAN_OFFER:
        return np.empty((rows, columns), dtype)
    block = _take(size)
    owner = np.frombuffer(block, dtype=dtype, count=rows * columns)
    # Every view of the result holds on to `owner`: when it goes, nobody sees the memory any more.
    weakref.finalize(owner, _give, block).atexit = False
    return owner.reshape(rows, columns)


def _take(size: int) -> mmap.mmap:
    with _lock:
        if _kept and size <= len(_kept[0]) <= 2 * size:
            return _kept.pop()
        _kept.clear()
    try:
        block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"expected {size} bytes for the features, the system has too few: {error}") from error
    block.madvise(mmap.MADV_HUGEPAGE)
    return block


def _give(block: mmap.mmap) -> None:
    block.madvise(mmap.MADV_FREE)
    with _lock:
        _kept[:] = [block]
