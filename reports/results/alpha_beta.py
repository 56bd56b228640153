# SPDX-License-Identifier: MIT
"""The alpha-beta model of a transfer: t(S) = alpha + S / bandwidth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

ROUNDING = 1e-9  # of the shortest time, far below the resolution of a clock


@dataclass(frozen=True)
class AlphaBeta:
    alpha_us: float  # latency: the time of a call that moves no bytes
    us_per_byte: float

    @property
    def bytes_per_second(self) -> float:
        """The bandwidth; infinite if the time does not depend on size."""
        return 1e6 / self.us_per_byte if self.us_per_byte else math.inf

    @property
    def half_rate_bytes(self) -> float:
        """S_1/2 = alpha * bandwidth: the size where S / t(S) is half the bandwidth."""
        return self.alpha_us / self.us_per_byte if self.us_per_byte else math.inf

    def time_us(self, size: float) -> float:
        return self.alpha_us + self.us_per_byte * size


def fit_alpha_beta(sizes: Sequence[float], times_us: Sequence[float]) -> AlphaBeta:
    """Minimises the sum of (t(S) / measured - 1)^2 with both parameters >= 0.

    The error is relative so that small sizes, which determine alpha, weigh as much as
    large ones. All values must be above 0, and at least two sizes different.
    """
    bytes_, times = np.asarray(sizes, float), np.asarray(times_us, float)
    # Sizes are scaled by the largest, so that both columns have similar magnitude.
    unit = bytes_.max()
    columns = np.stack([1 / times, bytes_ / unit / times], axis=1)
    fitted, _ = nnls(columns, np.ones(len(times)))
    # A parameter below the rounding error of the other one is zero.
    fitted[fitted < ROUNDING * times.min()] = 0
    return AlphaBeta(float(fitted[0]), float(fitted[1] / unit))
