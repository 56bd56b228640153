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
from reports.history.findings import ALPHA

DATA = Path(__file__).resolve().parents[2] / "data"
LEVEL = ALPHA / 300


def lines(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def numbers(words: str) -> list[int]:
    return [int(word) for word in words.split()]


# Series of Apache Otava's test data (otava-test-data 0.1.9) and the changes that Otava
# 0.8 finds: normal noise of NumPy's default generator around levels.
@pytest.mark.parametrize("case", lines("otava.tsv"), ids=lambda case: case["generator"])
def test_what_otava_finds_of_injected_changes_is_found(case: dict[str, str]) -> None:
    injected, n = numbers(case["injected"]), int(case["points"])
    lengths = np.diff([0, *injected, n])
    levels = np.repeat([float(level) for level in case["levels"].split()], lengths)
    rng = np.random.default_rng(int(case["seed"]))
    values = levels + rng.normal(0, float(case["sigma"]), n)
    found = [change.index for change in change_points(np.log(values), LEVEL)]
    assert set(injected) <= set(numbers(case["otava"])) and len(found) == len(injected)
    assert all(abs(a - b) <= 1 for a, b in zip(found, injected, strict=True))


def test_otava_finds_no_more_changes_injected_into_measured_series() -> None:
    """Otava 0.8, windows of 50, p < 0.001: changes within two points, and elsewhere."""
    elsewhere, allowed = 0, 0.0
    for case in lines("public_series.tsv"):
        logs = np.log(np.array(case["values"].split(), float))
        allowed += int(case["otava_elsewhere"]) / 2
        by_percent = map(numbers, (case["percent"], case["otava"]))
        for percent, otava in zip(*by_percent, strict=True):
            found = 0
            for at in range(10, len(logs) - 4, 3):
                step = np.log1p(percent / 100) * (np.arange(len(logs)) >= at)
                away = [abs(c.index - at) for c in change_points(logs + step, ALPHA)]
                found += min(away, default=99) <= 2
                elsewhere += sum(distance > 2 for distance in away)
            assert found >= otava, (case["series"], percent)
    assert elsewhere <= allowed


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
    t, _ = likeliest(values)
    assert (p_of(t, WINDOW, known) < 0.05).mean() <= 0.05
    if correlation:
        assert (p_of(t, WINDOW, 0.0) < 0.05).mean() > 0.3


def test_in_a_long_series_each_change_is_significant_and_false_ones_are_rare() -> None:
    values = np.random.default_rng(8).normal(size=(200, 6 * WINDOW))
    found = [change.p for row in values for change in change_points(row, ALPHA)]
    assert max(found) < ALPHA and len(found) <= ALPHA * len(values)


def test_a_new_change_is_found_as_often_in_a_long_series() -> None:
    values = np.random.default_rng(9).normal(size=(100, 2 * WINDOW + 1))
    values[:, -5:] += 3

    def found(values: np.ndarray) -> int:
        return sum(bool(change_points(row, LEVEL)) for row in values)

    assert 50 < found(values[:, -WINDOW:]) <= found(values) + 5


def test_more_noise_is_no_change() -> None:
    values = np.random.default_rng(6).normal(size=(300, WINDOW))
    noise = np.ones(WINDOW)
    noise[-6:] = 3

    def found(noise: np.ndarray | None) -> int:
        return sum(bool(change_points(row, ALPHA, noise=noise)) for row in values)

    values *= noise
    assert found(noise) <= ALPHA * len(values) < found(None) / 2


STAIRS = {WINDOW - 2: 1, WINDOW + 20: 1, 2 * WINDOW: 1}


@pytest.mark.parametrize("steps", [{25: 1, 35: -1}, STAIRS], ids=["burst", "stairs"])
def test_each_step_is_found_once_also_in_two_windows(steps: dict[int, int]) -> None:
    values = np.sin(np.arange(3.0 * WINDOW)) / 100
    for at, height in steps.items():
        values[at:] += height
    assert [change.index for change in change_points(values, LEVEL)] == list(steps)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_few_points_show_nothing(n: int) -> None:
    assert change_points(np.arange(float(n)), 0.5) == []
    assert correlation_of([np.arange(float(n))]) == 0
    assert correlation_of([np.arange(6.0)]) > 0


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
