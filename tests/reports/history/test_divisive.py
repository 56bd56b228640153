# SPDX-License-Identifier: MIT
"""Change points are found where they are, and seldom anywhere else."""

import csv
from pathlib import Path

import numpy as np
import pytest

from reports.history.divisive import (
    WINDOW,
    change_points,
    correlation_of,
    energy_split,
    likeliest,
    p_of,
)

# Series of Apache Otava's test data (otava-test-data 0.1.9) and the changes that Otava
# 0.8 finds: normal noise of NumPy's default generator around levels.
OTAVA = Path(__file__).resolve().parents[2] / "data/otava.tsv"
LEVEL = 0.05 / 300


def cases() -> list[dict[str, str]]:
    with OTAVA.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def numbers(words: str) -> list[int]:
    return [int(word) for word in words.split()]


@pytest.mark.parametrize("case", cases(), ids=lambda c: f"{c['generator']}-{c['seed']}")
def test_what_otava_finds_of_injected_changes_is_found(case: dict[str, str]) -> None:
    injected, n = numbers(case["injected"]), int(case["points"])
    lengths = np.diff([0, *injected, n])
    levels = np.repeat([float(level) for level in case["levels"].split()], lengths)
    rng = np.random.default_rng(int(case["seed"]))
    values = levels + rng.normal(0, float(case["sigma"]), n)
    found = [change.index for change in change_points(np.log(values), LEVEL)]
    assert (
        len(found) == len(injected) == len(set(numbers(case["otava"])) & set(injected))
    )
    assert all(abs(a - b) <= 1 for a, b in zip(found, injected, strict=True))


def test_the_size_of_a_change_and_its_interval() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 0.01, (200, 40))
    values[:, 20:] += 0.1
    found = [change_points(row, LEVEL)[0].interval for row in values]
    covered = sum(interval.low < 0.1 < interval.high for interval in found)
    assert 0.9 * 200 <= covered <= 200


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_no_change_is_found_more_often_than_stated(correlation: float) -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(3000, WINDOW))
    for point in range(1, WINDOW):
        fresh = (1 - correlation**2) ** 0.5 * values[:, point]
        values[:, point] = correlation * values[:, point - 1] + fresh
    known = correlation_of([values])
    assert known == pytest.approx(correlation, abs=0.1)
    between, within, _ = likeliest(values)
    assert (p_of(between, within, WINDOW, known) < 0.05).mean() <= 0.05
    if correlation:
        assert (p_of(between, within, WINDOW, 0.0) < 0.05).mean() > 0.3


def test_a_burst_that_ends_is_two_changes() -> None:
    values = np.sin(np.arange(60.0)) / 100
    values[25:35] += 1
    assert [change.index for change in change_points(values, LEVEL)] == [25, 35]


def test_a_change_in_the_overlap_of_windows_is_found_once() -> None:
    values = np.sin(np.arange(3.0 * WINDOW)) / 100
    for at in (WINDOW - 2, WINDOW + 20, 2 * WINDOW):
        values[at:] += 1
    found = [change.index for change in change_points(values, LEVEL)]
    assert found == [WINDOW - 2, WINDOW + 20, 2 * WINDOW]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_few_points_show_nothing(n: int) -> None:
    assert change_points(np.arange(float(n)), 0.5) == []
    assert correlation_of([np.arange(float(n))]) == 0


def test_the_energy_split_by_its_definition() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=14)
    values[9:] += 2

    def mean(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.abs(a[:, None] - b[None, :]).mean())

    def energy(at: int, end: int) -> float:
        left, right = values[:at], values[at:end]
        n, m = len(left), len(right)
        inside = mean(left, left) * n / (n - 1) + mean(right, right) * m / (m - 1)
        return n * m / (n + m) * (2 * mean(left, right) - inside)

    pairs = [(at, end) for at in range(3, 12) for end in range(at + 3, 15)]
    assert energy_split(values) == max(pairs, key=lambda pair: energy(*pair))
