"""From the words of an estimator's signature to the text of a kernel.

``kernel`` is a name (``"gaussian"``) with one of ``gamma``, ``sigma`` and ``scale`` beside it, or a whole one, as text
(``"laplace(scale=2)"``) or as a :class:`~bochner.Kernel`. The library reads the text and knows which word goes with which kernel. scikit-learn's
names for the same kernels, ``"rbf"`` and ``"laplacian"``, are understood.
"""

from __future__ import annotations

import re
from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from ._frames import is_table
from ._validation import variance
from .kernels import Kernel, value_text

#: A width, as scikit-learn spells it.
GAMMA = Interval(Real, 0, None, closed="neither")

SCALE = StrOptions({"scale"})

#: Domains of the parameters that a kernel is made of.
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [str, Kernel],
    "sigma": [Interval(Real, 0, None, closed="neither"), "array-like", None],
    "scale": [Interval(Real, 0, None, closed="neither"), "array-like", None],
}

#: Kernels that need nothing but a width.
_FAMILIES = {"gaussian", "laplace", "exponential", "cauchy", "sinc", "radial_sinc"}

#: scikit-learn's names.
_OTHER_NAMES = {"rbf": "gaussian", "laplacian": "laplace"}


#: Kernels of texts, and what is in brackets: names of columns, which may be anything.
_OF_TEXTS = re.compile(r"\b(spectrum|gapped|mismatch|characters|positional|words)\b")
_COLUMNS = re.compile(r"\[[^\]]*\]")


def refuse_texts(kernel: str | Kernel | None, X: Any) -> None:
    """A kernel of texts is refused before rows are read as numbers."""
    if kernel is not None and not is_table(X) and _OF_TEXTS.search(_COLUMNS.sub("", str(kernel))):
        raise ValueError(
            f"expected a kernel of numbers, found {kernel}, which is one of texts: give a DataFrame with the columns it names, or "
            "put SequenceFeatures in a pipeline or ColumnTransformer before the estimator"
        )


def _named(kernel: str | Kernel) -> str:
    text = str(kernel)
    return _OTHER_NAMES.get(text.strip(), text)


def is_family(kernel: str | Kernel) -> bool:
    """Whether the kernel is a name that still needs a width."""
    return _named(kernel).strip() in _FAMILIES


def kernel_text(
    kernel: str | Kernel,
    *,
    gamma: float | str | None,
    sigma: Any,
    scale: Any,
) -> str:
    """Put a width into the text of a kernel; a name without any stays a name."""
    text = _named(kernel)
    words = {"gamma": gamma, "sigma": sigma, "scale": scale}
    given = {word: value for word, value in words.items() if value is not None}
    if not given:
        return text
    if text.strip() == "auto":
        # A width says which: sigma and gamma are the Gaussian's, scale is Laplace's.
        text = kernel = "laplace" if "scale" in given else "gaussian"
    if not is_family(kernel):
        raise ValueError(
            f"expected kernel={text!r} to stand alone, found {' and '.join(given)} beside it: "
            "the width belongs in the kernel or in the parameter, not in both"
        )
    if len(given) > 1:
        raise ValueError(f"expected one of gamma, sigma and scale, found {' and '.join(given)}")
    (word, value), = given.items()
    return f"{text.strip()}({word}={value_text(word, value)})"


def kernel_for_rows(
    kernel: str | Kernel,
    rows: Any,
    *,
    gamma: float | str | None,
    sigma: Any,
    scale: Any,
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
