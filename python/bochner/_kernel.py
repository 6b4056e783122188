"""From the words of an estimator's signature to the text of a kernel.

``kernel`` is a name (``"gaussian"``) with one of ``gamma``, ``sigma`` and ``scale`` beside it, or a whole text
(``"laplace(scale=2)"``). The library reads the text and knows which word goes with which kernel.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"\s*(gaussian|laplace)\s*")


def is_family(kernel: str) -> bool:
    """Whether the kernel is a name that still needs a width."""
    return _NAME.fullmatch(kernel) is not None


def kernel_text(
    kernel: str,
    *,
    gamma: float | None,
    sigma: float | None,
    scale: float | None,
) -> str:
    """Put a width into the text of a kernel; a name without any stays a name."""
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
