# SPDX-License-Identifier: MIT
"""The levels of rows with few processes, few points or few rows."""

import numpy as np
import pytest

from reports.results.levels import FEWEST_ROWS, Floats, levels_of

SHAPE = (20, 50, 6)  # rows, points, processes


def noise(seed: int, *, shared: float = 0.0, rows: int = SHAPE[0]) -> Floats:
    """Draws log times. Processes differ by 2 %, and rounds by `shared`."""
    rng = np.random.default_rng(seed)
    own = rng.normal(0, 0.02, (rows, *SHAPE[1:]))
    return own + rng.normal(0, shared, SHAPE[1:]) if shared else own


def test_a_point_may_have_few_processes_or_none() -> None:
    few = np.array([[[2, np.nan], [3, 5], [np.nan, np.nan]]])
    np.testing.assert_array_equal(levels_of(few)[0], [[[2, 4, np.nan]]] * 2)


def test_the_noise_follows_from_the_processes_of_a_point() -> None:
    logs = noise(12) + np.arange(50.0)[:, None]  # how points differ does not matter
    logs[:, -5:] += 2 * noise(13)[:, -5:]
    for found in levels_of(logs)[1]:
        assert (found >= 1).all() and found[:-5].max() < 1.5
        assert found[-5:].mean() == pytest.approx(5**0.5, rel=0.1)
    np.testing.assert_array_equal(levels_of(logs[: FEWEST_ROWS - 1])[1], 1)


def test_a_row_with_fewer_points_loses_the_state_of_the_machine_as_well() -> None:
    logs = noise(9, shared=0.1)
    logs[0, :40] = np.nan
    assert np.nanstd(levels_of(logs)[0][1, 0]) < 0.011


def test_too_few_rows_share_nothing() -> None:
    (first, second), _ = levels_of(noise(11, shared=0.1, rows=FEWEST_ROWS - 1))
    np.testing.assert_array_equal(first, second)
