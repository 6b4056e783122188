"""Kernel machines at the cost of linear models, as scikit-learn estimators.

A kernel (a notion of similarity) becomes a randomized feature map; rows are streamed through it once; a linear problem
is solved; and the result says how far it is from the exact kernel's.

* :class:`FourierFeatures` and :class:`LandmarkFeatures` turn rows into features, in place of scikit-learn's
  ``RBFSampler`` and ``Nystroem``; :class:`BinningFeatures` makes sparse ones for the Laplace kernel.
* :class:`KernelRegressor` and :class:`KernelClassifier` learn on such features, with width and regularization chosen
  from the data where they are not given; :class:`KernelSVC` is a support vector machine with the exact kernel.
* :class:`Certificate` is what each of them promises about its kernel error.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._core import __version__

if _TYPE_CHECKING:
    from ._certificate import Certificate
    from .exact import KernelSVC
    from .features import BinningFeatures, FourierFeatures, LandmarkFeatures
    from .learners import KernelClassifier, KernelRegressor

__all__ = [
    "BinningFeatures",
    "Certificate",
    "FourierFeatures",
    "KernelClassifier",
    "KernelRegressor",
    "KernelSVC",
    "LandmarkFeatures",
    "__version__",
]

# Where each name lives. They are imported when first asked for: the command should not wait for scikit-learn.
_HOMES = {
    "BinningFeatures": ".features",
    "Certificate": "._certificate",
    "FourierFeatures": ".features",
    "KernelClassifier": ".learners",
    "KernelRegressor": ".learners",
    "KernelSVC": ".exact",
    "LandmarkFeatures": ".features",
}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
