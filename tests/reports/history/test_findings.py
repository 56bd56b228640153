# SPDX-License-Identifier: MIT
"""Exact changes are certain at once; a slower time is suspected until pairs decide."""

import math
from dataclasses import replace

import numpy as np
import pytest

from reports.compare.decision import Verdict
from reports.history.commits import Commit
from reports.history.findings import Finding, Kind, findings, threshold_for
from reports.history.oracle import Answer
from reports.history.series import Series
from reports.results.levels import levels_of
from reports.results.rows import Failure, Row

N = 40
COMMITS = [Commit(f"{number:040x}", "2026-01-01", "") for number in range(N)]


def series(
    logs: np.ndarray,
    exact: list[dict[str, list[Row]]] | None = None,
    levels: np.ndarray | None = None,
) -> Series:
    rows = [f"e/{row}" for row in range(len(logs))]
    contexts = [{"host_name": "a"}] * logs.shape[1]
    exact = exact or [{} for _ in contexts]
    times = np.stack([100 * np.exp(logs)] * 3)
    levels = logs[np.newaxis] if levels is None else levels
    alike = np.ones((len(levels), logs.shape[1]))
    failures = [list[Failure]() for _ in contexts]
    known = times, levels, alike, exact, failures
    return Series(COMMITS[: logs.shape[1]], contexts, rows, *known, newest={})


def noise(rows: int = 20) -> np.ndarray:
    return np.random.default_rng(2).normal(0, 0.01, (rows, N))


def of_peaks(*peaks: float, **more: float) -> Series:
    each = [
        {"e/0": [Row("e/0", 1, {}, {}, {"peak_bytes": peak, **more})]} for peak in peaks
    ]
    return series(np.zeros((1, len(peaks))), each)


def places(found: list[Finding]) -> list[tuple[int, int]]:
    return [(each.before, each.after) for each in found]


def test_a_slower_row_is_suspected_with_the_commits_to_compare() -> None:
    logs = noise()
    logs[3, 30:] += math.log(1.05)
    (found,) = findings(series(logs))
    assert (found.kind, found.row) == (Kind.SUSPECTED, "e/3")
    assert (found.before, found.after) == (29, 30)
    assert found.ends == (27, 32)
    assert 1.04 < math.exp(found.least) < 1.05
    assert found.commits(series(logs), COMMITS) == [COMMITS[30]]


def test_missing_points_and_commits_widen_what_can_have_made_it() -> None:
    logs = noise()
    logs[3, 30:] += 0.1
    logs[3, 28:31] = np.nan
    line = [c for commit in COMMITS for c in (commit, replace(commit, revision="x"))]
    (found,) = findings(series(logs))
    assert (found.before, found.after) == (27, 31)
    assert len(found.commits(series(logs), line)) == 8


def test_a_change_of_all_rows_has_its_size_and_hides_no_other() -> None:
    logs = np.random.default_rng(3).normal(0, 0.005, (10, N, 6))
    logs[:, 15:] += math.log(1.2)
    logs[0, 30:] += math.log(1.2)
    levels, _ = levels_of(logs)
    found = findings(series(levels[0], levels=levels))
    by_row = [(each.row, each.after) for each in found]
    assert by_row == [*((f"e/{row}", 15) for row in range(10)), ("e/0", 30)]
    assert all(1.18 < math.exp(each.least) < 1.21 for each in found)


VERDICTS = [
    (Verdict.REGRESSED, Kind.CONFIRMED),
    (Verdict.IMPROVED, Kind.IMPROVED),
    (Verdict.EQUIVALENT, Kind.REFUTED),
    (Verdict.INCONCLUSIVE, Kind.SUSPECTED),
]


@pytest.mark.parametrize(("verdict", "kind"), VERDICTS)
def test_the_verdict_on_commits_around_it_decides(verdict: Verdict, kind: Kind) -> None:
    logs = noise()
    logs[3, 30:] += math.log(1.05)
    good, bad = COMMITS[25].revision, COMMITS[35].revision
    answer = Answer("e/3", verdict, 1.04, (1.03, 1.05), 12, [], good, bad)
    (found,) = findings(series(logs), [answer])
    assert found.kind is kind
    assert found.words == "+4.0 % (+3.0 % to +5.0 %) by 12 pairs"
    elsewhere = (replace(answer, name="e/4"), replace(answer, bad=COMMITS[29].revision))
    (found,) = findings(series(logs), elsewhere)
    assert found.kind is Kind.SUSPECTED


def test_an_exact_counter_is_compared_at_every_commit() -> None:
    (worse, better) = findings(of_peaks(100, 100, 101, 101, 90))
    assert (worse.kind, worse.is_worse, better.is_worse) == (Kind.EXACT, True, False)
    assert places([worse, better]) == [(1, 2), (3, 4)]
    assert "peak_bytes 100 B -> 101 B (WORSE)" in worse.words


def test_a_counter_of_later_commits_is_compared_from_then_on() -> None:
    each = of_peaks(*[100] * 4).exact
    for rows, calls in zip(each[1:], (4, 4, 8), strict=True):
        rows["e/0"][0].counters["calls"] = calls
    (found,) = findings(series(np.zeros((1, 4)), each))
    assert (places([found]), found.words) == ([(2, 3)], "calls 4 -> 8 (WORSE)")


def test_a_row_is_lost_where_it_fails_after_a_point_that_measured_it() -> None:
    known = of_peaks(*[100] * 5)
    for point in (2, 3):
        known.exact[point].clear()
        known.failures[point].append(Failure("e/0", "no\nn"))
    known.failures[4].append(Failure("e/0", "in another result of the commit"))
    (found,) = findings(known)
    assert (places([found]), found.is_worse) == ([(1, 2)], True)
    assert (found.row, found.words) == ("e/0", "lost: no n")


def test_another_host_is_said_and_is_no_change_of_a_row() -> None:
    known = series(noise())
    contexts = [{"host_name": "ab"[number >= 9]} for number in range(N)]
    (found,) = findings(replace(known, contexts=contexts))
    assert (found.kind, found.row, found.after) == (Kind.MACHINE, "", 9)


@pytest.mark.parametrize(
    ("ratio", "threshold"), [(1.03, 0.015), (0.97, 0.015), (2, 0.02), (1.001, 0.005)]
)
def test_half_of_the_least_change_is_rounded_to_the_threshold(
    ratio: float, threshold: float
) -> None:
    assert threshold_for(math.log(ratio)) == threshold
