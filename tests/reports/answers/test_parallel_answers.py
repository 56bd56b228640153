# SPDX-License-Identifier: MIT
"""The answers of distributed experiments, from rows made by hand."""

from typing import Any

import pytest

from reports.answers.parallel import all_reduce, ddp, sharded_optimizer
from reports.results.rows import Result, parse
from results import document, entry


def result(*rows: tuple[str, dict[str, float]]) -> Result:
    return parse(document(*(entry(name, 1, **counters) for name, counters in rows)))


def reduced(backend: str, ranks: int, size: int, us: float, **more: float) -> Any:
    return f"all_reduce/{backend}/ranks:{ranks}/bytes:{size}", {"p50_us": us} | more


def test_all_reduce_names_the_law_of_each_backend_and_ranks() -> None:
    # 50 us and 2 GB/s, 20 us and 100 GB/s: half rate from 100 kB and 2 MB on.
    sizes = (1 << 24, 1 << 10, 1 << 17)
    answer = all_reduce(
        result(
            *(reduced("gloo", 2, size, 50 + size / 2e3) for size in sizes),
            *(reduced("nccl", 4, size, 20 + size / 1e5) for size in sizes),
            reduced("gloo", 4, 1 << 10, 7),  # one size has no law
        )
    )
    assert answer is not None
    assert answer[0] == (
        "gloo, 2 ranks: t(S) = 50 us + S / (2 GB/s), half of that rate from 97.7 KiB "
        "on; nccl, 4 ranks: t(S) = 20 us + S / (100 GB/s), half of that rate from "
        "1.91 MiB on."
    )
    lines = answer[1].markdown().splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:5]] == [
        "gloo, 2 ranks: 1 KiB",
        "gloo, 2 ranks: 128 KiB",
        "gloo, 2 ranks: 16 MiB",
    ]
    assert lines[-1] == "| gloo, 4 ranks: 1 KiB | 7 us | - | - | - | - |"


def test_all_reduce_shows_bandwidths_and_spread() -> None:
    answer = all_reduce(
        result(
            reduced(
                *("gloo", 2, 1024, 10.0),
                algbw_bytes_per_second=1.5e9,
                busbw_bytes_per_second=2e9,
                rank_spread=0.25,
                threads_per_rank=3,
            ),
            reduced("gloo", 2, 2048, 10.0),
        )
    )
    assert answer is not None
    assert answer[0] == "gloo, 2 ranks: t(S) = 10 us, whatever S."
    assert "| 10 us | 1.5 GB/s | 2 GB/s | 25 % | 3 |" in answer[1].markdown()


def test_all_reduce_without_a_fixed_cost() -> None:
    answer = all_reduce(result(*(reduced("gloo", 2, s, s) for s in (1000, 2000))))
    assert answer is not None
    assert answer[0].endswith("S / (0.001 GB/s), at that rate from the first byte on.")


def step(strategy: str, us: float, bucket: str = "", **more: float) -> Any:
    name = f"ddp/{strategy}/small/fp32/ranks:2{bucket}/batch:4/seq:128"
    return name, {"p50_us": us} | more


ALONE = ("ddp/alone/small/fp32/ranks:1/as_one_of:2/batch:4/seq:128", {"p50_us": 50.0})


def test_ddp_compares_the_fastest_with_the_plainest() -> None:
    answer = ddp(
        result(
            # Another setting, which the sentence leaves alone.
            ("ddp/flat/tiny/fp32/ranks:2/batch:4/seq:128", {"p50_us": 1.0}),
            ALONE,
            step("per_parameter", 150, communication_calls=108),
            step("reducer", 120, overlap_share=-0.5),
            step(
                *("overlap_bucketed", 100, "/bucket_mb:25"),
                overlap_share=0.8,
                optimal_bucket_mb=2,
                scaling_efficiency=0.5,
                communication_bytes=2**20,
                exposed_us=50,
            ),
        )
    )
    assert answer is not None
    assert answer[0] == (
        "The fastest is overlap_bucketed 25 MB, small fp32, 2 ranks, 4 x 128: 100 us, "
        "1.5 times as fast as `per_parameter`, 1.2 times as fast as `reducer`; the "
        "best bucket by the formula has 2 MB; its scaling efficiency is 50 %."
    )
    tiny, alone, plain, reducer, best = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in answer[1].markdown().splitlines()[2:]
    )
    headings = list(answer[1].headings)
    assert tiny[0].startswith("flat, tiny") and plain[0].startswith("per_parameter,")
    assert alone[0] == "alone, small fp32, 2 ranks, 4 x 128"
    assert alone[1] == "50 us" and set(alone[2:]) == {"-"}
    assert dict(zip(headings, plain, strict=True))["calls"] == "108"
    assert dict(zip(headings, reducer, strict=True))["hidden"] == "none"
    cells_of_best = dict(zip(headings, best, strict=True))
    assert cells_of_best["efficiency"] == "50 %" and cells_of_best["hidden"] == "80 %"
    assert cells_of_best["exposed"] == "50 us" and cells_of_best["predicted"] == "-"


def test_ddp_leaves_out_what_was_not_measured() -> None:
    answer = ddp(result(step("per_parameter", 150)))
    assert answer is not None
    assert answer[0] == (
        "The fastest is per_parameter, small fp32, 2 ranks, 4 x 128: 150 us."
    )


def sharded(kind: str, model: str, us: float, **more: float) -> Any:
    name = f"sharded_optimizer/{kind}/{model}/ranks:2/batch:4/seq:128"
    return name, {"p50_us": us} | more


def test_sharding_is_compared_with_replication() -> None:
    answer = sharded_optimizer(
        result(
            sharded("replicated", "tiny", 1),
            sharded("sharded", "tiny", 1),
            sharded("replicated", "small", 100, peak_bytes=4 * 2**30),
            sharded(
                *("sharded", "small", 110),
                peak_bytes=3 * 2**30,
                init_peak_bytes=2**20,
                before_step_peak_bytes=2**21,
                step_peak_bytes=2**22,
                predicted_peak_bytes=2**23,
            ),
            sharded("broadcast", "small", 130),
        )
    )
    assert answer is not None
    assert answer[0] == (
        "Sharding the optimizer of `small` over 2 ranks takes 1.1 times the time and "
        "75 % of the peak memory, 3 GiB instead of 4 GiB."
    )
    lines = answer[1].markdown().splitlines()
    assert lines[5] == (
        "| sharded, small, 2 ranks, 4 x 128 | 110 us | - | - | 1 MiB | 2 MiB | 4 MiB "
        "| 3 GiB | 8 MiB |"
    )
    assert lines[6].startswith("| broadcast, small, 2 ranks, 4 x 128 | 130 us | - |")


def test_sharding_without_memory_compares_the_time_alone() -> None:
    answer = sharded_optimizer(
        result(sharded("sharded", "tiny", 3), sharded("replicated", "tiny", 2))
    )
    assert answer is not None
    assert answer[0].endswith("over 2 ranks takes 1.5 times the time.")


@pytest.mark.parametrize("summarize", [all_reduce, ddp, sharded_optimizer])
def test_without_what_is_compared_there_is_no_answer(summarize: Any) -> None:
    assert summarize(result()) is None
    lonely = (reduced("gloo", 2, 8, 1), ALONE, sharded("sharded", "a", 1))
    assert summarize(result(*lonely)) is None
