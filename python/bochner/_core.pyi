"""The native part of the package: what the estimators are built on."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Map",
    "Model",
    "Texts",
    "__version__",
    "canonical_kernel",
    "check_gram",
    "diagonal",
    "dimension_for",
    "distances",
    "epsilon_for",
    "explain",
    "features_for",
    "features_for_distance",
    "gram",
    "grids_for",
    "johnson_lindenstrauss",
    "landmarks_for_margin",
    "main",
    "margin_dimension",
    "region_of",
    "auto_draw",
]

__version__: str

def canonical_kernel(text: str, columns: list[str] | None = None) -> str: ...
def gram(kernel: str, x: Any, y: Any | None, threads: int) -> NDArray[Any]: ...
def distances(kernel: str, x: Any, y: Any | None, threads: int) -> NDArray[np.float64]: ...
def diagonal(kernel: str, x: Any) -> NDArray[np.float64]: ...
def explain(kernel: str, columns: int | None, features: int, bins: int | None = None) -> str: ...
def check_gram(matrix: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64], bool, str]: ...
def auto_draw(kernel: str, columns: int, features: int, form: str) -> str: ...
def features_for(kernel: str, form: str, points: int, epsilon: float, delta: float) -> int: ...
def grids_for(kernel: str, points: int, epsilon: float, delta: float) -> int: ...
def features_for_distance(kernel: str, epsilon: float, delta: float) -> int: ...
def landmarks_for_margin(margin: float, epsilon: float, delta: float) -> int: ...
def dimension_for(
    projection: str, kept: str, points: int, columns: int, epsilon: float, delta: float
) -> int: ...
def epsilon_for(
    projection: str, kept: str, points: int, columns: int, dimension: int, delta: float
) -> float: ...
def johnson_lindenstrauss(points: int, epsilon: float, delta: float) -> int: ...
def margin_dimension(margin: float, epsilon: float, delta: float) -> int: ...
def region_of(weights: NDArray[np.float64], intercept: float) -> tuple[str, NDArray[np.float64] | None, float | None]: ...
def main(arguments: Sequence[str]) -> int: ...
@final
class Map:
    @staticmethod
    def fit(
        rows: Any,
        *,
        kernel: str,
        method: str | None,
        features: int,
        seed: int,
        threads: int,
        columns: list[str] | None = None,
    ) -> Map: ...
    @staticmethod
    def fit_adaptively(
        rows: Any,
        *,
        kernel: str,
        method: str | None,
        features: int,
        seed: int,
        threads: int,
        target: float,
        most: int,
        columns: list[str] | None = None,
    ) -> tuple[Map, list[tuple[int, float, float]]]: ...
    @staticmethod
    def fit_transform_sparse(
        rows: Any,
        *,
        kernel: str,
        method: str | None,
        features: int,
        seed: int,
        threads: int,
        columns: list[str] | None = None,
    ) -> tuple[Map, tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]], NDArray[Any]]]: ...
    def transform(self, rows: Any, threads: int) -> NDArray[Any]: ...
    def transform_sparse(
        self, rows: Any, threads: int
    ) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]], NDArray[Any]]: ...
    @property
    def input_dim(self) -> int: ...
    @property
    def output_dim(self) -> int: ...
    @property
    def landmarks(self) -> NDArray[np.float64] | None: ...
    @property
    def has_sparse(self) -> bool: ...
    @property
    def worst_overlap(self) -> tuple[int, float, int] | None: ...
    @property
    def kernel(self) -> str: ...
    @property
    def draw(self) -> str | None: ...
    @property
    def recipe(self) -> str | None: ...
    @property
    def certificate(self) -> str: ...
    @property
    def certificate_text(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Map: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Model:
    @staticmethod
    def fit(
        rows: Any,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None = None,
        labels: tuple[str, list[str]] | None = None,
        *,
        kernel: str,
        method: str | None = None,
        features: int | None = None,
        loss: str = "ridge",
        seed: int = 0,
        regularization: float | None = None,
        folds: int = 5,
        standardize: bool = True,
        tolerance: float | None = None,
        budget: float | None = None,
        solver: str = "auto",
        metric: str = "auto",
        start: Model | None = None,
        deviation: bool = False,
        held_out: float | None = None,
        calibrate: bool = False,
        columns: list[str] | None = None,
        target: str = "",
        threads: int = 0,
        verbose: int = 0,
    ) -> Model: ...
    @staticmethod
    def forecast(
        *,
        rows: int,
        columns: int,
        entries: int | None,
        scalar_bytes: int,
        outputs: int,
        kernel: str,
        method: str | None = None,
        features: int | None = None,
        loss: str = "ridge",
        regularization: float | None = None,
        folds: int = 5,
        standardize: bool = True,
        budget: float | None = None,
        solver: str = "auto",
        metric: str = "auto",
        deviation: bool = False,
        threads: int = 0,
    ) -> tuple[str, str]: ...
    @staticmethod
    def fit_exact(
        rows: Any,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        labels: tuple[str, list[str]],
        *,
        kernel: str,
        cost: float,
        tolerance: float,
        cache_bytes: int,
        columns: list[str] | None = None,
        target: str = "",
        threads: int = 0,
        verbose: int = 0,
    ) -> Model: ...
    @staticmethod
    def fit_exact_ridge(
        rows: Any,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        *,
        kernel: str,
        regularization: float | None,
        folds: int,
        intercept: bool,
        columns: list[str] | None = None,
        target: str = "",
        threads: int = 0,
        verbose: int = 0,
    ) -> Model: ...
    def decide(self, rows: Any, threads: int) -> NDArray[np.float64]: ...
    def outputs_of(self, rows: Any, threads: int) -> NDArray[np.float64]: ...
    def classify(self, rows: Any, threads: int) -> NDArray[np.int64]: ...
    def encode(self, rows: Any, threads: int) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
    def probabilities(self, rows: Any, threads: int) -> NDArray[np.float64]: ...
    def deviations(self, rows: Any, threads: int) -> NDArray[np.float64]: ...
    def intervals(self, rows: Any, coverage: float, threads: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def sets(self, rows: Any, coverage: float, threads: int) -> NDArray[np.bool_]: ...
    @property
    def input_dim(self) -> int: ...
    @property
    def encoded_dim(self) -> int: ...
    @property
    def features_asked(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def kernel(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def standardized(self) -> bool: ...
    @property
    def metric(self) -> str: ...
    def metric_parts(
        self,
    ) -> (
        tuple[
            NDArray[np.float64] | tuple[float, NDArray[np.float64]],
            NDArray[np.float64],
            NDArray[np.float64],
            NDArray[np.float64],
        ]
        | None
    ): ...
    @property
    def regularization(self) -> float | None: ...
    @property
    def folds(self) -> int | None: ...
    @property
    def has_intercept(self) -> bool | None: ...
    @property
    def curve(self) -> list[tuple[float, float]]: ...
    @property
    def plan(self) -> str | None: ...
    @property
    def degrees_of_freedom(self) -> float | None: ...
    @property
    def loss(self) -> str | None: ...
    @property
    def margins(self) -> tuple[float, float, float] | None: ...
    @property
    def conjugate(self) -> tuple[str, int, str, float, float] | None: ...
    @property
    def minimised(self) -> tuple[float, float | None, int, str, float | None] | None: ...
    @property
    def has_probabilities(self) -> bool: ...
    @property
    def is_calibrated(self) -> bool: ...
    @property
    def has_deviation(self) -> bool: ...
    @property
    def held_out_rows(self) -> int | None: ...
    @property
    def held_out_share(self) -> float | None: ...
    @property
    def decision(self) -> str | None: ...
    @property
    def landmarks(self) -> NDArray[np.float64] | None: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def coefficients(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> NDArray[np.float64]: ...
    @property
    def head(self) -> str: ...
    @property
    def labels(self) -> tuple[str, list[str]] | None: ...
    @property
    def columns(self) -> list[str] | None: ...
    @property
    def target(self) -> str: ...
    @property
    def certificate(self) -> str: ...
    @property
    def certificate_text(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
@final
class Texts:
    @staticmethod
    def fit(
        texts: Iterable[str], *, sequence: str, threads: int, weights: NDArray[np.float64] | None = None
    ) -> Texts: ...
    def transform(
        self, texts: Iterable[str], threads: int, single: bool
    ) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]], NDArray[Any]]: ...
    def exact(self, a: str, b: str) -> float: ...
    @property
    def kernel(self) -> str: ...
    @property
    def width(self) -> int: ...
    @staticmethod
    def from_parts(sequence: str, documents: tuple[float, NDArray[np.float64]] | None) -> Texts: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
