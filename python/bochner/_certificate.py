"""What a map promises about its kernel error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """How far the inner products of features are from the kernel.

    Parameters
    ----------
    bound : dict
        What holds by theory. Its ``"kind"`` is ``"finite_set"`` (with probability at least 1 - ``delta`` over the seed,
        at most ``epsilon`` for all pairs of ``points`` points, ``one_pair`` for one pair, and ``everywhere``, where
        there is such a number, in the smallest box that holds the rows looked at (for fitted bins, one of the two points being a row of the fit);
        for frequencies that are not independent ``holds`` is False and the number is that of independent ones), ``"deterministic"`` (at most
        ``epsilon`` for all pairs of the ``rows`` rows looked at: there is no chance in the map), ``"residual"`` (at most ``largest`` for all pairs
        of the ``rows`` rows looked at, always), ``"measured_only"`` (no bound is known), ``"exact"`` or ``"no_approximation"``.
    measured : dict or None
        What was found: the ``mean`` absolute error over ``pairs`` pairs of rows, within ``radius`` of the mean over all
        pairs with probability 1 - ``delta``, and the ``largest``. None where there is nothing to compare.
    text : str
        The same in words; what ``print`` shows.
    """

    bound: dict[str, Any]
    measured: dict[str, Any] | None
    text: str

    @classmethod
    def from_json(cls, source: str, text: str) -> Certificate:
        """From what the library writes."""
        parts = json.loads(source)
        return cls(bound=parts["bound"], measured=parts["measured"], text=text)

    def __str__(self) -> str:
        return self.text
