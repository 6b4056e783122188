"""Kernel machines at the cost of linear models, as scikit-learn estimators.

A kernel (a notion of similarity) becomes a randomized feature map; rows are streamed through it once; a linear problem
is solved; and the result says how far it is from the exact kernel's.

* :class:`Kernel` is an expression of kernels, such as ``0.7 * Gaussian(sigma=2)["age", "income"] + Linear()``; :func:`Gaussian`,
  :func:`Laplace`, :func:`Matern` and so on are what it is made of.
* :class:`KernelMap` turns rows into features of any kernel. :class:`FourierFeatures` and :class:`LandmarkFeatures` take the place of
  scikit-learn's ``RBFSampler`` and ``Nystroem``, :class:`SketchFeatures` that of ``PolynomialCountSketch``; :class:`BinningFeatures` makes sparse ones for the Laplace kernel.
* :class:`SequenceFeatures` counts the pieces of DNA, proteins and text; :class:`RandomProjection` keeps distances in fewer columns.
* :class:`Lifting` has the monomials, the products of columns or the parabola themselves; :class:`Region` is the ball of a separator.
* :class:`KernelRegressor` and :class:`KernelClassifier` learn on such features, with width and regularization chosen
  from the data where they are not given; :class:`KernelSVC` is a support vector machine with the exact kernel, :class:`KernelRidge` a ridge regression with it.
* :func:`load` reads a model that one of them, or the command line, wrote to a file.
* :class:`Certificate` is what each of them promises about its kernel error; :func:`features_for`, :func:`grids_for`,
  :func:`features_for_distance`, :func:`landmarks_for_margin`, :func:`dimension_for` and :func:`margin_dimension` say how much a promise takes, :func:`check_gram` whether a matrix can be one of
  kernel values.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._core import __version__

if _TYPE_CHECKING:
    from ._certificate import Certificate
    from ._load import load
    from .certify import (
        Definiteness,
        check_gram,
        dimension_for,
        epsilon_for,
        features_for,
        features_for_distance,
        grids_for,
        landmarks_for_margin,
        margin_dimension,
    )
    from .exact import KernelRidge, KernelSVC
    from .features import BinningFeatures, FourierFeatures, KernelMap, LandmarkFeatures
    from .kernels import (
        AllSubsets,
        ArcCosine,
        Bilinear,
        Cauchy,
        Chi2,
        Constant,
        Exponential,
        ExponentialChi2,
        Gaussian,
        Hat,
        Interactions,
        Intersection,
        Kernel,
        Laplace,
        Linear,
        Matern,
        Monomials,
        Parabolic,
        Polynomial,
        RadialSinc,
        RationalQuadratic,
        Series,
        Sinc,
    )
    from .learners import KernelClassifier, KernelRegressor
    from .liftings import Lifting, Region
    from .projections import RandomProjection
    from .sequences import SequenceFeatures
    from .sketches import SketchFeatures

# Where each name lives. They are imported when first asked for: the command should not wait for scikit-learn.
_HOMES = {
    "AllSubsets": ".kernels",
    "ArcCosine": ".kernels",
    "Bilinear": ".kernels",
    "BinningFeatures": ".features",
    "Cauchy": ".kernels",
    "Certificate": "._certificate",
    "check_gram": ".certify",
    "Chi2": ".kernels",
    "Constant": ".kernels",
    "Definiteness": ".certify",
    "dimension_for": ".certify",
    "epsilon_for": ".certify",
    "Exponential": ".kernels",
    "ExponentialChi2": ".kernels",
    "features_for": ".certify",
    "features_for_distance": ".certify",
    "FourierFeatures": ".features",
    "Gaussian": ".kernels",
    "grids_for": ".certify",
    "Hat": ".kernels",
    "Interactions": ".kernels",
    "Intersection": ".kernels",
    "Kernel": ".kernels",
    "KernelClassifier": ".learners",
    "KernelMap": ".features",
    "KernelRegressor": ".learners",
    "KernelRidge": ".exact",
    "KernelSVC": ".exact",
    "LandmarkFeatures": ".features",
    "landmarks_for_margin": ".certify",
    "Laplace": ".kernels",
    "Lifting": ".liftings",
    "Linear": ".kernels",
    "load": "._load",
    "margin_dimension": ".certify",
    "Matern": ".kernels",
    "Monomials": ".kernels",
    "Outlook": "._outlook",
    "Parabolic": ".kernels",
    "Polynomial": ".kernels",
    "RadialSinc": ".kernels",
    "RandomProjection": ".projections",
    "RationalQuadratic": ".kernels",
    "Region": ".liftings",
    "SequenceFeatures": ".sequences",
    "Series": ".kernels",
    "Sinc": ".kernels",
    "SketchFeatures": ".sketches",
}

__all__ = [
    "AllSubsets",
    "ArcCosine",
    "Bilinear",
    "BinningFeatures",
    "Cauchy",
    "Certificate",
    "check_gram",
    "Chi2",
    "Constant",
    "Definiteness",
    "dimension_for",
    "epsilon_for",
    "Exponential",
    "ExponentialChi2",
    "features_for",
    "features_for_distance",
    "FourierFeatures",
    "Gaussian",
    "grids_for",
    "Hat",
    "Interactions",
    "Intersection",
    "Kernel",
    "KernelClassifier",
    "KernelMap",
    "KernelRegressor",
    "KernelRidge",
    "KernelSVC",
    "LandmarkFeatures",
    "landmarks_for_margin",
    "Laplace",
    "Lifting",
    "Linear",
    "load",
    "margin_dimension",
    "Matern",
    "Monomials",
    "Outlook",
    "Parabolic",
    "Polynomial",
    "RadialSinc",
    "RandomProjection",
    "RationalQuadratic",
    "Region",
    "SequenceFeatures",
    "Series",
    "Sinc",
    "SketchFeatures",
    "__version__",
]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
