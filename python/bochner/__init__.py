"""Kernel machines at the cost of linear models, as scikit-learn estimators.

A kernel (a notion of similarity) becomes a randomized feature map; rows are streamed through it once; a linear problem
is solved; and the result says how far it is from the exact kernel's.

* :class:`FourierFeatures` and :class:`LandmarkFeatures` turn rows into features, in place of scikit-learn's
  ``RBFSampler`` and ``Nystroem``.
* :class:`KernelRegressor` and :class:`KernelClassifier` learn on such features, with width and regularization chosen
  from the data where they are not given.
* :class:`Certificate` is what each of them promises about its kernel error.
"""

from ._certificate import Certificate
from ._core import __version__
from .features import FourierFeatures, LandmarkFeatures
from .learners import KernelClassifier, KernelRegressor

__all__ = [
    "Certificate",
    "FourierFeatures",
    "KernelClassifier",
    "KernelRegressor",
    "LandmarkFeatures",
    "__version__",
]
