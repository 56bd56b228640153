# SPDX-License-Identifier: MIT
"""Result files, read as typed rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden
from reports.results.result_file import load, parse
from reports.results.rows import TIME, Failure, NotAResult
from results import document, entry, expected, parsed

WORDS = {"model": "tiny", "precision": "fp32"}
FINDINGS = {"largest": "aten::div in loss", "logits": "fp32"}
ENTRY = entry("e/tiny/fp32/seq:8", 12.5, seq=8.0) | {
    "parameters": WORDS | {"seq": 8},
    "findings": FINDINGS,
}
DOCUMENT = document(ENTRY)
NULL_GPU = {"context": {"device_kind": "null_cuda"}}
EXPECTATION = expected("e", "p50_us", "about", 2, 0.15, rows={"seq": 8})


def with_entry(**changes: Any) -> dict[str, Any]:
    return DOCUMENT | {"benchmarks": [ENTRY | changes]}


def with_expectation(**changes: Any) -> dict[str, Any]:
    return DOCUMENT | {"expectations": [EXPECTATION | changes]}


def test_a_row_has_its_words_findings_and_counters() -> None:
    (row,) = parse(with_entry()).rows
    assert row.experiment == "e" and row.time_us == 12.5
    assert (row.words, row.findings) == (WORDS, FINDINGS)
    assert row.counters == {"seq": 8.0, TIME: 12.5}
    assert row["seq"] == 8 and row.get("missing") is None
    assert row.parameters == WORDS | {"seq": "8"}


def test_repetitions_are_one_row_with_the_medians() -> None:
    entries = [ENTRY | {"real_time": t, "seq": 2 * t} for t in (9.0, 1.0, 3.0)]
    entries[1]["rare"] = 5.0
    (row,) = parse(DOCUMENT | {"benchmarks": entries}).rows
    assert row.time_us == 3
    assert row.counters == {"seq": 6.0, TIME: 3}


def test_least_values_means_deviations_and_rates_are_those_of_all_samples() -> None:
    each = {
        "min_us": (4.0, 2.0, 3.0),
        "max_us": (5.0, 9.0, 6.0),
        "samples": (2.0, 1.0, 1.0),
        "mean_us": (4.0, 7.0, 5.0),
        "stddev_us": (1.0, 2.0, 1.0),
        "cv": (0.25, 0.3, 0.25),
        "p50_us": (4.0, 7.0, 5.0),
        "flops_per_second": (7.0, 4.0, 5.6),
    }
    entries = [ENTRY | {name: each[name][i] for name in each} for i in range(3)]
    (row,) = parse(DOCUMENT | {"benchmarks": entries}).rows
    assert (row["min_us"], row["max_us"], row["mean_us"]) == (2, 9, 5)
    # The mean of the variances, 7 / 4, and the variance of the means, 6 / 4.
    assert row["stddev_us"] == pytest.approx(3.25**0.5)
    assert row["cv"] == 0.25, "within a process"
    assert row["flops_per_second"] == 28 / 5, "an amount over the median time"


def test_repetitions_may_be_processes() -> None:
    twice = DOCUMENT | {"benchmarks": [ENTRY] * 2}
    assert parse(twice).processes == 1
    assert parse(twice | {"context": {"processes": "2"}}).processes == 2


def test_a_row_has_what_half_of_its_repetitions_found_and_is_wrong_if_one_is() -> None:
    wrong = {"wrong": "loss_error 2 > 1"}
    one = ENTRY | {"findings": wrong | {"noisy": "9 %"}}
    (row,) = parse(DOCUMENT | {"benchmarks": [one, ENTRY, ENTRY]}).rows
    assert row.findings == FINDINGS | wrong


def test_of_different_findings_a_row_has_the_median_one() -> None:
    found = ("+499 %", "-12 %", "+241 %", "+1.5e3 %")
    entries = [ENTRY | {"findings": {"trend": one}} for one in found]
    (row,) = parse(DOCUMENT | {"benchmarks": entries}).rows
    assert row.findings["trend"] == "+241 %"


@pytest.mark.parametrize(("count", "ends"), [(5, (94, 112)), (6, (90, 110))])
def test_the_interval_of_few_repetitions_has_each_of_theirs(
    count: int, ends: tuple[float, float]
) -> None:
    times = [100.0, 110.0, 105.0, 95.0, 100.0, 90.0][:count]
    wide = ENTRY | {"findings": {"wide": "±449 %"}}
    entries = [
        wide
        | {"real_time": us, "p50_us": us, "p50_low_us": us - 1, "p50_high_us": us + 2}
        for us in times
    ]
    (row,) = parse(DOCUMENT | {"benchmarks": entries}).rows
    assert (row["p50_low_us"], row["p50_high_us"]) == ends
    assert ("wide" in row.findings) == (count == 5), "of one repetition's interval"


def with_counter(**changes: str) -> dict[str, Any]:
    counter = {"counter": "goal", "unit": "", "kind": "value", "better": ""}
    return DOCUMENT | {"counters": [counter | changes]}


KERNEL: dict[str, Any] = {"phase": "forward", "name": "mm", "family": "gemm"}
KERNEL |= {"instances": 2, "time_us": {}}
TIMES = dict.fromkeys(("total", "mean", "median", "min", "max", "stddev"), 1)
BAD_TOTALS: list[Any] = [[6.0], [1, 2, 3, 4, 5, "6"]]
BAD_KERNELS = [KERNEL | {"time_us": TIMES | {"totals": bad}} for bad in BAD_TOTALS]


def with_profile(**changes: Any) -> dict[str, Any]:
    lists: dict[str, list[Any]] = {"kernels": [], "ranges": [], "copies": []}
    profile = {"case": "e/all", "passes": 6, "of": "kernels"} | lists
    return DOCUMENT | {"profiles": [profile | changes]}


TURNS = {"case": "e/a", "family": "f", "us": [1, 1]}
QUESTION = {"experiment": "e", "question": "?"}
MADE_UP: list[Any] = [
    [1],
    {"context": {}, "benchmarks": []},
    {**DOCUMENT, "benchmarks": [{"name": "a", "run_type": "iteration"}]},
    DOCUMENT | NULL_GPU,
    *(with_entry(real_time=us) for us in (0.0, "fast", 10**400, 5e-324, 1e16)),
    *(with_entry(parameters=words) for words in ("x", {"model": None})),
    *(with_entry(findings=words) for words in (["logits"], {"logits": 16})),
    *(with_entry(name=name) for name in (7, "e/seq:x", "a\nb")),
    *(with_entry(flops=flops) for flops in ("many", None, True, 10**101)),
    *(with_entry(run_type=None),),
    *(with_entry(error_occurred=1), with_entry(bytes=-1), with_entry(loss=-1e101)),
    *(with_expectation(relation="nearly"), with_expectation(expected="2")),
    *(with_expectation(quantity=3), DOCUMENT | {"questions": [QUESTION]}),
    DOCUMENT | {"errors": [{"name": "a", "reason": None}]},
    DOCUMENT | {"skipped": [{"name": "a"}]},
    DOCUMENT | {"skipped": [{"name": [], "reason": "b"}]},
    DOCUMENT | {"complete": "no"},
    DOCUMENT | {"benchmarks": [ENTRY | {"repetition_index": 0}] * 2},
    *(with_profile(passes="6"), with_profile(of=1), with_profile(ranges=7)),
    *(with_profile(kernels=[bad]) for bad in ({}, KERNEL, *BAD_KERNELS)),
    *(with_counter(kind="speed"), with_counter(better="faster")),
    with_counter(better="lower, 2"),
    *(DOCUMENT | {"turns": [TURNS | {"visits": bad}]} for bad in ([1], [2, 1], [0, 2])),
]


def test_what_the_program_would_not_write(tmp_path: Path) -> None:
    path, said = tmp_path / "a.json", []
    for content in MADE_UP:
        path.write_text(json.dumps(content))
        with pytest.raises(NotAResult) as raised:
            load(path)
        before, found = str(raised.value).split(": ", 1)
        assert before == str(path) and "\n" not in found and len(found) < 400
        said.append(found)
    check_golden("damaged.txt", {"no result of the program": "\n".join(said)})


def test_a_row_that_google_benchmark_gave_no_number_has_a_reason() -> None:
    failed = {"error_occurred": True, "error_message": "wrong", "real_time": 0.0}
    skipped = {"skipped": True, "skip_message": "no GPU", "real_time": 0.0}
    entries = [ENTRY | failed, ENTRY | {"name": "e/b"} | skipped]
    result = parsed(*entries)
    assert result.rows == []
    assert result.errors == [Failure("e/tiny/fp32/seq:8", "wrong")]
    assert result.skipped == [Failure("e/b", "no GPU")]
