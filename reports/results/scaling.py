# SPDX-License-Identifier: MIT
"""How a quantity grows: the exponent of a power law through measured points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Student's t, two-sided 95 %, for 1, 2, ... degrees of freedom.
T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
Z_95 = 1.959964  # its limit, that of the normal distribution


@dataclass(frozen=True)
class Fit:
    """y = coefficient * x ** exponent, by least squares on the logarithms."""

    exponent: float
    coefficient: float
    points: int
    # Of the exponent. None for two points: they leave nothing to judge by.
    standard_error: float | None
    # The 95 % interval of the exponent, by Student's t; None likewise.
    interval: tuple[float, float] | None


def student_t_95(freedom: int) -> float:
    """The 97.5 % point of Student's t, within 0.1 %."""
    if freedom <= len(T_95):
        return T_95[freedom - 1]
    # Cornish and Fisher's expansion around the normal distribution.
    z = Z_95
    first = (z**3 + z) / (4 * freedom)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return z + first + second


def _logarithms(name: str, values: Sequence[float]) -> NDArray[np.float64]:
    for value in values:
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} holds {value}; a power law needs values above 0")
    return np.log(np.asarray(values, dtype=np.float64))


def power_law_exponent(x: Sequence[float], y: Sequence[float]) -> Fit:
    """Fits a line to log y over log x.

    ValueError, naming what is wrong, if x and y differ in length, if there are
    fewer than two points or fewer than two different x, or if a value is not
    finite and positive.
    """
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} values, y has {len(y)}")
    if len(x) < 2:
        raise ValueError(f"a slope needs at least 2 points, not {len(x)}")
    log_x, log_y = _logarithms("x", x), _logarithms("y", y)
    offsets = log_x - log_x.mean()
    spread = float(offsets @ offsets)
    if len(set(x)) < 2:
        raise ValueError(f"a slope needs different x; all are {x[0]}")
    exponent = float(offsets @ log_y) / spread
    intercept = float(log_y.mean() - exponent * log_x.mean())
    coefficient = math.exp(intercept)
    freedom = len(x) - 2
    if freedom == 0:
        return Fit(exponent, coefficient, len(x), None, None)
    residuals = log_y - (intercept + exponent * log_x)
    error = math.sqrt(float(residuals @ residuals) / freedom / spread)
    margin = student_t_95(freedom) * error
    interval = (exponent - margin, exponent + margin)
    return Fit(exponent, coefficient, len(x), error, interval)
