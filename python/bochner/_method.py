"""How features are made: the words of signatures in those of the model file."""

from __future__ import annotations

from typing import Any


def fourier(draw: str, form: str = "pairs") -> dict[str, Any]:
    """Fourier features."""
    return {"kind": "fourier", "form": form, "draw": draw}


#: How landmarks are chosen.
CHOICES = {"uniform": "uniform", "k-means++": "k_means_plus_plus", "leverage": "leverage", "cholesky": "cholesky"}


def landmarks(choice: str, *, whiten: bool = True, tolerance: float = 1e-7) -> dict[str, Any]:
    """Kernel values at landmarks; the usual choice of them goes without saying."""
    chosen = {} if choice == "uniform" else {"choice": CHOICES[choice]}
    return {"kind": "landmarks", "whiten": whiten, "tolerance": tolerance, **chosen}


#: Dense features of any estimator; None is the kernel's usual method.
METHODS: dict[str, dict[str, Any] | None] = {
    "auto": None,
    "compiled": {"kind": "compiled", "bins": None},
    "exact": {"kind": "exact"},
    "fourier": fourier("independent"),
    "orthogonal": fourier("orthogonal"),
    "quasi": fourier("quasi"),
    "turned": fourier("turned"),
    "structured": fourier("structured"),
    "offset": fourier("independent", form="offset"),
    "landmarks": landmarks("uniform"),
    **{choice: landmarks(choice) for choice in CHOICES if choice != "uniform"},
}
