"""From the words of an estimator's signature to the text of a kernel.

``kernel`` is a name (``"gaussian"``) with one of ``gamma``, ``sigma`` and ``scale`` beside it, or a whole text
(``"laplace(scale=2)"``). The library reads the text and knows which word goes with which kernel. scikit-learn's names for the same kernels,
``"rbf"`` and ``"laplacian"``, are understood.
"""

from __future__ import annotations

import re
from typing import Any

from ._validation import variance

_NAME = re.compile(r"\s*(gaussian|laplace)\s*")

#: scikit-learn's names.
_OTHER_NAMES = {"rbf": "gaussian", "laplacian": "laplace"}


def _named(kernel: str) -> str:
    return _OTHER_NAMES.get(kernel.strip(), kernel)


def is_family(kernel: str) -> bool:
    """Whether the kernel is a name that still needs a width."""
    return _NAME.fullmatch(_named(kernel)) is not None


def kernel_text(
    kernel: str,
    *,
    gamma: float | str | None,
    sigma: float | None,
    scale: float | None,
) -> str:
    """Put a width into the text of a kernel; a name without any stays a name."""
    kernel = _named(kernel)
    words = {"gamma": gamma, "sigma": sigma, "scale": scale}
    given = {word: value for word, value in words.items() if value is not None}
    if not given:
        return kernel
    if not is_family(kernel):
        raise ValueError(
            f"expected kernel={kernel!r} to stand alone, found {' and '.join(given)} beside it: "
            "the width belongs in the text or in the parameter, not in both"
        )
    if len(given) > 1:
        raise ValueError(f"expected one of gamma, sigma and scale, found {' and '.join(given)}")
    (word, value), = given.items()
    return f"{kernel.strip()}({word}={float(value)!r})"


def kernel_for_rows(
    kernel: str,
    rows: Any,
    *,
    gamma: float | str | None,
    sigma: float | None,
    scale: float | None,
    weights: Any = None,
    digits: int = 17,
) -> str:
    """As :func:`kernel_text`, a name without any width having that of 1 / n_features, or of ``gamma="scale"`` to so many digits."""
    if is_family(kernel) and sigma is None and scale is None:
        if gamma is None:
            gamma = 1.0 / rows.shape[1]
        elif gamma == "scale":
            spread = float(f"{rows.shape[1] * variance(rows, weights):.{digits}g}")
            gamma = 1.0 / spread if spread > 0 else 1.0
    return kernel_text(kernel, gamma=gamma, sigma=sigma, scale=scale)
