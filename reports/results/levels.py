# SPDX-License-Identifier: MIT
"""The levels of rows at the points of a history, from the times of processes."""

import warnings

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FAR = 2.5  # a distance is large at this multiple of the row's usual distance
FEWEST_ROWS = 5  # the median of fewer follows a change of one of them


def _limited(distances: Floats) -> Floats:
    limit = FAR * np.nanmedian(abs(distances), axis=(1, 2), keepdims=True)
    return distances.clip(-limit, limit)


def _means(logs: Floats) -> Floats:
    """Returns the mean of each point's processes after limiting their distances from
    the median. This step of Huber's estimator varies less than the median, and is as
    robust."""
    middle = np.nanmedian(logs, axis=-1)
    return np.asarray(middle + np.nanmean(_limited(logs - middle[..., None]), axis=-1))


def _shared(logs: Floats) -> Floats:
    """Returns the part of each log time that varies with the median of all rows in the
    same process or round of processes.

    The median is a control variate (Lavenberg and Welch 1981). Its coefficient is that
    of a regression over the processes of the same point, which no commit distinguishes.
    """
    away = logs - np.nanmedian(logs, axis=(1, 2), keepdims=True)
    state = np.nanmedian(away, axis=0, keepdims=True)
    state[np.isfinite(away).sum(axis=0, keepdims=True) < FEWEST_ROWS] = np.nan
    own = np.where(np.isfinite(logs), state, np.nan)  # where the row has times
    x, y = (v - np.nanmean(v, axis=-1, keepdims=True) for v in (own, logs))
    slope = np.nansum(x * y, axis=(1, 2)) / np.nansum(x * x, axis=(1, 2))
    return np.asarray(np.nan_to_num(slope.clip(0, 1)[:, None, None] * state))


def _noise(logs: Floats) -> Floats:
    """Returns how far processes of each point are apart, over the row's usual distance,
    as the median of all rows; at least 1, and 1 where too few rows show it."""
    away = abs(logs - np.nanmedian(logs, axis=-1, keepdims=True))
    apart = np.nanmedian(away, axis=-1)
    relative = apart / np.nanmedian(apart, axis=1, keepdims=True)
    noise = np.nanmedian(relative, axis=0)
    has_enough = np.isfinite(relative).sum(axis=0) >= FEWEST_ROWS
    return np.asarray(np.maximum(np.where(has_enough, noise, 1.0), 1.0))


def levels_of(logs: Floats) -> tuple[Floats, Floats]:
    """Returns two levels, [which, row, point], from log times [row, point, process]:
    with the part that rows share, and without it, and how noisy each is at each point,
    [which, point]. The first level shows a change of all rows alike. The second varies
    less if the machine's speed changes."""
    with warnings.catch_warnings(action="ignore"):  # some have no times
        both = logs, logs - _shared(logs)
        return np.stack([*map(_means, both)]), np.stack([*map(_noise, both)])
