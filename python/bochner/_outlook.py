"""What a fit will take, before it is made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outlook:
    """Seconds and bytes of a fit, forecast from its shape and from rates of this machine that were measured in less than a second.

    Parameters
    ----------
    seconds : tuple of float
        At least and at most: where ``n_components`` is left open, two fits may show that more features do not help.
    peak_bytes : int
        Memory at the peak, beside the rows.
    fits : list of dict
        One for each number of features that may be tried: ``features``, ``passes``, multiply-adds, ``peak_bytes``, and ``phases`` with their seconds.
    allowed : int
        How many of these may be made: memory, budget and work allow them. 0 means that the fit would be refused.
    search : float
        Seconds to find kernel, width and metric, where they are left open.
    text : str
        The same as a table; what ``print`` shows.
    """

    seconds: tuple[float, float]
    peak_bytes: int
    fits: list[dict[str, Any]]
    allowed: int
    search: float
    text: str

    @classmethod
    def from_json(cls, source: str, text: str) -> Outlook:
        """From what the library writes."""
        parts = json.loads(source)
        outlook = parts["outlook"]
        seconds = tuple(parts["seconds"])
        return cls(seconds=seconds, peak_bytes=parts["peak_bytes"], fits=outlook["fits"], allowed=parts["allowed"], search=outlook["search"], text=text)

    def __str__(self) -> str:
        return self.text
