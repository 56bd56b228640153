# SPDX-License-Identifier: MIT
"""The exponent of a power law through measured points."""

from collections.abc import Sequence

import numpy as np


def exponent_weights(x: Sequence[float]) -> list[float]:
    """Returns the weights w for which sum(w * log(y)) is the exponent of the power law
    through the points (x, y), by least squares on the logarithms.

    Raises ValueError if there are fewer than two different x, or if one is not above 0.
    """
    for value in x:
        if not value > 0:
            raise ValueError(f"x holds {value}; a power law needs values above 0")
    if len(set(x)) < 2:
        raise ValueError(f"a slope needs different x, not {list(x)}")
    offsets = np.log(x) - np.log(x).mean()
    return [float(weight) for weight in offsets / (offsets @ offsets)]
