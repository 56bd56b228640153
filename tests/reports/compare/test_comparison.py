# SPDX-License-Identifier: MIT
"""The verdicts on two sets of runs."""

import dataclasses

import pytest

from reports.compare.comparison import Comparison, Options, compare
from reports.compare.decision import RowNoise
from reports.compare.environment import NotComparable
from reports.compare.exact import Change, changes
from reports.compare.noise import NoiseFile
from reports.compare.text import render
from reports.results.result_file import parse
from reports.results.rows import Result
from results import CONTEXT, alternating, entry, failure, parsed


def paired(ratio: float) -> tuple[list[Result], list[Result]]:
    sides: tuple[list[Result], list[Result]] = ([], [])
    for is_new, result in alternating(24, ratio, one=1000, two=1000):
        sides[is_new].append(parse(result))
    return sides


def verdicts(comparison: Comparison) -> dict[str, str]:
    return {row.name: str(row.decision.verdict) for row in comparison.rows}


def test_a_threshold_is_the_users_or_the_floor_of_the_row() -> None:
    sides = paired(1.05)
    wide = compare(*sides, Options(threshold=0.1))
    assert set(verdicts(wide).values()) == {"EQUIVALENT"}
    known = NoiseFile(dict(CONTEXT), {"e/one": RowNoise(0.1, 0.01, 20, 0)}, "r")
    found = compare(*sides, Options(noise=known))
    assert verdicts(found)["e/one"] == "EQUIVALENT"
    assert verdicts(found)["e/two"] == "REGRESSED"
    assert found.rows[0].decision.threshold == 0.1
    (line,) = [row for row in render(found).splitlines() if row.startswith("e/one")]
    assert "A/A floor 10 %" in line
    other = dataclasses.replace(known, context=CONTEXT | {"sampling": "another"})
    allowed = Options(noise=other, allow_different_environment=True)
    (different,) = compare(*sides, allowed).differences
    assert different.key == "the A/A spread's sampling"


def test_sides_that_did_not_alternate_say_nothing_by_time() -> None:
    base, new = paired(1.3)
    late = [
        dataclasses.replace(
            result, context=result.context | {"date": f"2026-01-02T00:00:{i:02}"}
        )
        for i, result in enumerate(new)
    ]
    found = compare(base, late, Options())
    assert set(verdicts(found).values()) == {"INCONCLUSIVE"}
    assert any("did not take turns" in note for note in found.notes)


def test_the_order_of_the_files_does_not_matter() -> None:
    base, new = paired(1.3)
    forward = compare(base, new, Options())
    backward = compare(base[::-1], new[3:] + new[:3], Options())
    assert [row.decision for row in forward.rows] == [
        row.decision for row in backward.rows
    ]


@pytest.mark.parametrize(
    "key",
    (
        "device driver torch threads dtype_policy allocator_settings cpu_allocator "
        "GLIBC_TUNABLES sampling seed settings CUDA_LAUNCH_BLOCKING suite_version "
        "models"
    ).split(),
)
def test_another_environment_is_refused_by_its_keys(key: str) -> None:
    base = parsed(entry("e/one", 1))
    new = parsed(entry("e/one", 1), context={key: "another"})
    with pytest.raises(NotComparable, match=rf"{key} \(.* v another\)"):
        compare([base], [new], Options())
    allowed = compare([base], [new], Options(allow_different_environment=True))
    assert [found.key for found in allowed.differences] == [key]


def test_what_may_matter_is_a_note() -> None:
    base = parsed(entry("e/one", 1), context={"host_name": "a"})
    new = parsed(
        entry("e/one", 1),
        context={"host_name": "b", "git_dirty": "true"},
        complete=False,
    )
    notes = " | ".join(compare([base], [new], Options()).notes)
    assert "host_name (a v b)" in notes
    assert "1 of 1 new runs stopped early" in notes
    assert "new has changes that were not committed" in notes


@pytest.mark.parametrize(
    ("metric", "base", "new", "change"),
    [
        ("flops", [8], [9], Change.WORSE),
        ("flops", [8], [8], None),
        ("peak_bytes", [100], [99], Change.BETTER),
        ("params", [5], [4], Change.CHANGED),
        ("loss", [1], [2], None),
        # A tolerance is stated where equality is too much.
        ("predicted_peak_bytes", [10_000], [10_001], Change.WORSE),
        ("peak_bytes", [10_000], [10_009], None),
        ("peak_bytes", [10_000], [10_011], Change.WORSE),
        ("peak_reserved_bytes", [10_000], [10_199], None),
        ("peak_reserved_bytes", [10_000], [10_201], Change.WORSE),
        # What is measured may vary within a side, and what is exact may not.
        ("peak_bytes", [10, 12], [11, 12], None),
        ("peak_bytes", [10, 12], [13, 14], Change.WORSE),
        ("flops", [10, 10], [10, 20], Change.WORSE),
        ("flops", [10, 10], [5, 10], Change.BETTER),
        ("flops", [10, 20], [20, 10], None),
        ("flops", [10, 20], [15, 20], Change.CHANGED),
    ],
)
def test_what_is_a_change_of_a_counter(
    metric: str, base: list[float], new: list[float], change: Change | None
) -> None:
    before, after = (
        [entry("e/one", 1, **{metric: value}) for value in side] for side in (base, new)
    )
    files = ([parsed(one).rows[0] for one in side] for side in (before, after))
    processes = (
        parsed(*side, context={"processes": str(len(side))}).rows
        for side in (before, after)
    )
    for sides in (files, processes):
        assert [found.change for found in changes(*sides)] == [change] * bool(change)


def test_a_counter_that_is_worse_or_lost_fails_unless_that_is_accepted() -> None:
    base = parsed(entry("e/one", 1, flops=8, peak_bytes=100, params=5, calls=3))
    new = parsed(entry("e/one", 1, flops=9, peak_bytes=99, params=4, bytes=7))
    found = compare([base], [new], Options())
    bad = [change.metric for _, change in found.bad_changes]
    assert bad == ["flops", "params", "calls"] and found.exit_code == 1
    assert "calls 3 -> nothing (LOST)" in render(found)
    assert compare([base], [new], Options(accepted=frozenset(bad))).exit_code == 0


def test_a_row_that_some_runs_lack_is_listed_and_an_error_in_one_fails() -> None:
    both, half = parsed(entry("e/one", 1), entry("e/two", 1)), parsed(entry("e/one", 1))
    found = compare([both, both], [both, half], Options())
    (partly,) = found.unmatched
    assert (partly.name, partly.new) == ("e/two", "absent in 1 of 2 runs")
    assert found.exit_code == 0
    # A run that no longer measures decided rows is not listed.
    assert compare([both, both], [both, half], Options(), dict).unmatched == []
    bad = parsed(entry("e/one", 1), errors=[failure("e/two", "nan")])
    found = compare([both, both], [both, bad], Options())
    assert len(found.rows) == 2 and found.exit_code == 1
    assert found.unmatched[0].new == "error: nan (in 1 of 2 runs)"


def test_nothing_is_dropped_in_silence() -> None:
    base = parsed(
        *(entry(f"e/{name}", 1) for name in ("good", "lost", "skips", "errs", "bad")),
        skipped=[failure("e/fits_now", "too big"), failure("e/never", "too big")],
        errors=[failure("e/mended", "wrong")],
    )
    new = parsed(
        *(entry(f"e/{name}", 1) for name in ("good", "added", "fits_now", "mended")),
        entry("e/bad", 1, " | wrong=loss_error 2 > 1"),
        skipped=[failure("e/skips", "no GPU"), failure("e/never", "too big")],
        errors=[failure("e/errs", "nan | in it")],
    )
    found = compare([base], [new], Options())
    assert [row.name for row in found.rows] == ["e/good"]
    listed = {row.name: (row.base, row.new, row.failure) for row in found.unmatched}
    assert listed == {
        "e/lost": ("measured", "absent", "LOST"),
        "e/skips": ("measured", "skipped: no GPU", "LOST"),
        "e/errs": ("measured", "error: nan | in it", "FAILED"),
        "e/bad": ("measured", "error: wrong result: loss_error 2 > 1", "FAILED"),
        "e/fits_now": ("skipped: too big", "measured", ""),
        "e/never": ("skipped: too big", "skipped: too big", ""),
        "e/mended": ("error: wrong", "measured", ""),
        "e/added": ("absent", "measured", ""),
    }
    assert found.exit_code == 1
