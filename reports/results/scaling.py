# SPDX-License-Identifier: MIT
"""Fits a power law to measured points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit


@dataclass(frozen=True)
class Fit:
    """A fit of y proportional to x ** exponent by least squares on the logarithms."""

    exponent: float
    log_at_one: float  # the logarithm of y at x = 1
    # 95 % interval of the exponent by Student's t; None for two points, which always
    # fit exactly.
    interval: tuple[float, float] | None

    def at(self, x: float) -> float:
        return math.exp(self.log_at_one + self.exponent * math.log(x))


def _logarithms(name: str, values: Sequence[float]) -> NDArray[np.float64]:
    for value in values:
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} holds {value}; a power law needs values above 0")
    return np.log(np.asarray(values, dtype=np.float64))


def power_law_exponent(x: Sequence[float], y: Sequence[float]) -> Fit:
    """Fits a line to log y over log x.

    Raises ValueError if x and y differ in length, if there are fewer than two points
    or fewer than two different x, or if a value is not finite and positive.
    """
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} values, y has {len(y)}")
    if len(x) < 2:
        raise ValueError(f"a slope needs at least 2 points, not {len(x)}")
    log_x, log_y = _logarithms("x", x), _logarithms("y", y)
    if len(set(x)) < 2:
        raise ValueError(f"a slope needs different x; all are {x[0]}")
    offsets = log_x - log_x.mean()
    spread = float(offsets @ offsets)
    exponent = float(offsets @ log_y) / spread
    intercept = float(log_y.mean() - exponent * log_x.mean())
    freedom = len(x) - 2
    if freedom == 0:
        return Fit(exponent, intercept, None)
    residuals = log_y - (intercept + exponent * log_x)
    standard_error = math.sqrt(float(residuals @ residuals) / freedom / spread)
    margin = float(stdtrit(freedom, 0.975)) * standard_error
    return Fit(exponent, intercept, (exponent - margin, exponent + margin))
